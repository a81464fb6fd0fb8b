import { readFile, writeFile } from 'node:fs/promises';
import { z } from 'zod';
import { type Figure, type FigureValue, isHeld, type Run } from './figure.ts';
import { RUNS } from './runs.ts';

const FILE = new URL('results.json', import.meta.url);

const valueSchema = z.union([z.number(), z.boolean(), z.null()]);

const measuredSchema = z.looseObject({
  /** The day (UTC), the commit, and the machine of the measurement. */
  date: z.iso.date(),
  commit: z.string(),
  cores: z.number(),
  node: z.string(),
  /** How long all of its runs took. */
  seconds: z.number(),
  /** The command's exit code, of the worst of its runs; null if it was ended. */
  exitCode: z.number().nullable(),
  seeds: z.array(z.number()).optional(),
  /** By field: what each of its runs printed. */
  values: z.record(z.string(), z.array(valueSchema)),
});

/** What the last runs printed, by the run's name. */
export type Results = Readonly<Record<string, Measured>>;
export type Measured = z.infer<typeof measuredSchema>;

/** Reads the results that the repository keeps. @throws ZodError if the file is not one of results */
export async function readResults(): Promise<Results> {
  return z.record(z.string(), measuredSchema).parse(JSON.parse(await readFile(FILE, 'utf8')));
}

/** Keeps these results, in the order of the table. */
export async function writeResults(results: Results): Promise<void> {
  const inOrder = RUNS.flatMap(({ name }) => (results[name] === undefined ? [] : [[name, results[name]]]));
  await writeFile(FILE, `${JSON.stringify(Object.fromEntries(inOrder), undefined, 2)}\n`);
}

/** A figure's value: the median of what its runs printed, or the worst where one printed no number; undefined if none ran. */
export function figureValue(measured: Measured | undefined, { field }: Figure): FigureValue | undefined {
  const values = measured?.values[field] ?? [];
  const numbers = values.filter((value) => typeof value === 'number').toSorted((a, b) => a - b);
  if (numbers.length === values.length) return numbers[Math.floor(values.length / 2)];
  return values.includes(null) ? null : values.every((value) => value === true);
}

/** Whether a figure holds; undefined where the machine lacks what its run needs. */
export function verdict(run: Run, measured: Measured | undefined, figure: Figure): boolean | undefined {
  const value = figureValue(measured, figure);
  if (run.needs !== undefined && measured?.exitCode === 0 && (value === undefined || value === null))
    return undefined;
  return measured?.exitCode === 0 && isHeld(value, figure.bar);
}

/** What a run's last line says: the value of each of its figures. */
export function printedValues(run: Run, line: string): Record<string, FigureValue> {
  const printed = parsedLine(line);
  return Object.fromEntries(run.figures.map(({ field }) => [field, at(printed, field.split('.'))]));
}

/** The value below these names; null where there is none that a figure can have. */
function at(value: unknown, path: readonly string[]): FigureValue {
  const found = path.reduce<unknown>(
    (inner, name) => (typeof inner === 'object' && inner !== null ? Reflect.get(inner, name) : undefined),
    value,
  );
  return valueSchema.safeParse(found).data ?? null;
}

function parsedLine(line: string): unknown {
  try {
    return JSON.parse(line);
  } catch {
    return undefined;
  }
}
