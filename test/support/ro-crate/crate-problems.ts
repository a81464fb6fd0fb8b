import { readFile } from 'node:fs/promises';
import jsonld from 'jsonld';
import { Validator } from 'ro-crate/lib/validator.js';
import { z } from 'zod';

const crateSchema = z.looseObject({ '@graph': z.array(z.looseObject({ '@id': z.string() })) });
const findingsSchema = z.array(z.looseObject({ status: z.string(), message: z.string() }));

/** RO-Crate 1.2's own context, as its authors publish it (CC0). */
const CONTEXT = new URL('./context-1.2.json', import.meta.url);
const CONTEXT_ADDRESS = 'https://w3id.org/ro/crate/1.2/context';

/**
 * What is wrong with the metadata of a crate that holds these files: what the validator of npm's ro-crate finds, terms that
 * the context does not know (jsonld throws), and ids without an entity.
 */
export async function crateProblems(metadata: string, files: readonly string[]): Promise<string[]> {
  const crate = crateSchema.parse(JSON.parse(metadata));
  const document: unknown = JSON.parse(await readFile(CONTEXT, 'utf8'));
  await jsonld.expand(crate, {
    safe: true,
    base: 'https://crate.example.org/',
    documentLoader: async (url) => {
      if (url !== CONTEXT_ADDRESS) throw new Error(`another context: ${url}`);
      return { documentUrl: url, document };
    },
  });
  const validator = new Validator();
  validator.parseJSON(metadata);
  validator.rootDataEntity();
  validator.checkFiles(Object.fromEntries(files.map((name) => [name, { exists: true }])));
  const findings = findingsSchema
    .parse(validator.results)
    .flatMap(({ status, message }) => (status === 'success' ? [] : [`${status}: ${message}`]));
  const ids = new Set(crate['@graph'].map((entity) => entity['@id']));
  const named = [...metadata.matchAll(/\{"@id":"([^"]+)"\}/g)].map(([, id = '']) => id);
  const missing = named.filter((id) => !ids.has(id) && !id.startsWith('https://w3id.org/ro/crate/'));
  return [...findings, ...missing.map((id) => `there is no entity ${id}`)];
}
