import { readFile } from 'node:fs/promises';
import jsonld from 'jsonld';
import { Validator } from 'ro-crate/lib/validator.js';
import { z } from 'zod';

/** RO-Crate 1.1's own context, as its authors publish it (CC0). */
const CONTEXT = new URL('./context-1.1.json', import.meta.url);
const CONTEXT_ADDRESS = 'https://w3id.org/ro/crate/1.1/context';

const crateSchema = z.looseObject({
  '@context': z.tuple([z.literal(CONTEXT_ADDRESS), z.looseObject({})]),
  '@graph': z.array(z.looseObject({ '@id': z.string() })),
});
const contextSchema = z.looseObject({ '@context': z.looseObject({}) });
const findingsSchema = z.array(z.looseObject({ status: z.string(), message: z.string() }));

/**
 * What is wrong with the metadata of a crate that holds these files and folders, by their ids: what the validator of npm's
 * ro-crate finds. Throws where the context does not know a term, as jsonld does.
 */
export async function crateProblems(metadata: string, files: readonly string[]): Promise<string[]> {
  const crate = crateSchema.parse(JSON.parse(metadata));
  const document = contextSchema.parse(JSON.parse(await readFile(CONTEXT, 'utf8')));
  await jsonld.expand(crate, {
    safe: true,
    base: 'https://crate.example.org/',
    documentLoader: async (url) => {
      if (url !== CONTEXT_ADDRESS) throw new Error(`another context: ${url}`);
      return { documentUrl: url, document };
    },
  });
  const validator = new Validator();
  // The validator reads no context by its address but that of 1.2.
  validator.parseJSON({ ...crate, '@context': [document['@context'], crate['@context'][1]] });
  validator.rootDataEntity();
  validator.checkFiles(Object.fromEntries(files.map((id) => [id, { exists: true }])));
  const findings = findingsSchema
    .parse(validator.results)
    .flatMap(({ status, message }) => (status === 'success' ? [] : [`${status}: ${message}`]));
  return findings;
}
