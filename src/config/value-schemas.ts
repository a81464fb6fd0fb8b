import { z } from 'zod';

/** Words separated by commas. */
const words = (text: string) => text.split(/[,\s]+/).filter((word) => word !== '');
const stringList = z.string().default('').transform(words);

export const hostList = stringList.transform((hosts) => hosts.map((host) => host.toLowerCase()));

/** File extensions and MIME types separated by commas. */
export const fileTypeList = stringList.pipe(
  z.array(z.string().regex(/^(\.[^/\s]+|[\w.+-]+\/([\w.+-]+|\*))$/)),
);

/** Newer blocks of Slack, separated by commas; `none` for none. */
export const newBlockList = z
  .string()
  .default('plan,data_table')
  .transform((text) => words(text).filter((word) => word !== 'none'))
  .pipe(z.array(z.enum(['plan', 'data_table'])));

/** Keys separated by commas, of at least 32 characters each. */
export const secretKeyList = z
  .string()
  .transform(words)
  .pipe(z.array(z.string().min(32)).min(1));

/** An emoji's name, with or without colons; `none` becomes ''. */
export const emojiName = z
  .string()
  .regex(/^:?[\w+'-]{1,100}:?$/)
  .default('octagonal_sign')
  .transform((name) => (name === 'none' ? '' : name.replaceAll(':', '')));

export const botIdList = stringList.pipe(z.array(z.string().regex(/^B[A-Z0-9]+$/)));

/** Workspace and organisation ids separated by commas; `*` stands for any. */
export const workspaceIdList = stringList.pipe(z.array(z.string().regex(/^([TE][A-Z0-9]+|\*)$/)));

export const nonNegativeInteger = z.coerce.number().int().nonnegative();

export const channelId = z.string().regex(/^[CG][A-Z0-9]+$/);

export const databaseUrl = z
  .string()
  .regex(/^postgres(ql)?:\/\//, 'must begin with postgres:// or postgresql://');

export const logLevel = z
  .enum(['fatal', 'error', 'warn', 'info', 'debug', 'trace', 'silent'])
  .default('info');

/** A default value as people write it in the environment. */
export function formatDefault(value: unknown): string {
  if (Array.isArray(value)) return value.join(',');
  if (typeof value === 'object') return '{}';
  return typeof value === 'string' ? value : JSON.stringify(value);
}
