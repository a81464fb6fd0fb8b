import { z } from 'zod';

/** Words between commas. */
const stringList = z
  .string()
  .default('')
  .transform((text) => text.split(/[,\s]+/).filter((word) => word !== ''));

/** Hosts between commas. */
export const hostList = stringList.transform((hosts) => hosts.map((host) => host.toLowerCase()));

/** Endings and MIME types between commas. */
export const fileTypeList = stringList.pipe(
  z.array(z.string().regex(/^(\.[^/\s]+|[\w.+-]+\/([\w.+-]+|\*))$/)),
);

/** Several secrets between commas; each long enough to be a key. */
export const secretKeyList = z
  .string()
  .transform((text) => text.split(/[,\s]+/).filter((key) => key !== ''))
  .pipe(z.array(z.string().min(32)).min(1));

/** An emoji's name, with or without its colons; '' for none. */
export const emojiName = z
  .string()
  .regex(/^:?[\w+'-]{1,100}:?$/)
  .default('octagonal_sign')
  .transform((name) => (name === 'none' ? '' : name.replaceAll(':', '')));

/** Ids of bots between commas. */
export const botIdList = stringList.pipe(z.array(z.string().regex(/^B[A-Z0-9]+$/)));

/** Ids of workspaces and organisations between commas. */
export const workspaceIdList = stringList.pipe(z.array(z.string().regex(/^[TE][A-Z0-9]+$/)));

/** A whole number, 0 too. */
export const nonNegativeInteger = z.coerce.number().int().nonnegative();
