import { createHash } from 'node:crypto';
import { z } from 'zod';

const node = z.looseObject({ '@id': z.string(), '@type': z.unknown() });
type Node = z.infer<typeof node>;
const crateSchema = z.looseObject({ '@context': z.unknown(), '@graph': z.array(node) });
const refSchema = z.strictObject({ '@id': z.string() });
const refsSchema = z.array(refSchema);

/** What an `.eln` file is: its archive's name, the names of its entries, their bytes, and its metadata. */
export interface ElnFile {
  name: string;
  entries: ReadonlyMap<string, Uint8Array>;
  metadata: z.infer<typeof crateSchema>;
}

export function elnFile(name: string, entries: ReadonlyMap<string, Uint8Array>): ElnFile {
  const [first = ''] = entries.keys();
  const metadata = entries.get(`${first.split('/')[0]}/ro-crate-metadata.json`);
  return {
    ...{ name, entries },
    metadata: crateSchema.parse(JSON.parse(Buffer.from(metadata ?? '').toString())),
  };
}

const TIME = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\+00:00$/;

/** The rules of the format, and of its readers, each with what breaks it. */
export const ELN_RULES: Readonly<Record<string, (eln: ElnFile) => unknown[]>> = {
  'has one folder, named as the archive, with everything in it': ({ name, entries }) => [
    ...[...entries.keys()].filter((entry) => !entry.startsWith(`${name.replace(/\.eln$/, '')}/`)),
    ...(name.endsWith('.eln') ? [] : [name]),
  ],
  'has no entry for a folder': ({ entries }) => [...entries.keys()].filter((entry) => entry.endsWith('/')),
  'has names of letters, digits, ".", "_" and "-" alone': ({ entries }) =>
    [...entries.keys()].filter(
      (entry) => !/^[\w-][\w.-]*(?:\/[\w-][\w.-]*)+$/.test(entry) || /\.\./.test(entry),
    ),
  // The consortium's checks take the first file whose name ends so for it; PASTA leaves one out.
  'has no further file that is named as metadata': ({ entries }) =>
    [...entries.keys()].filter((entry) => /metadata\.json$/i.test(entry)).slice(1),
  'has the context of RO-Crate 1.1, and the term for a SHA-256': ({ metadata }) =>
    differs(metadata['@context'], [
      'https://w3id.org/ro/crate/1.1/context',
      { sha256: 'http://schema.org/sha256' },
    ]),
  'has a descriptor of version 1.0, conforming to RO-Crate 1.1': (eln) => {
    const { about, conformsTo, version } = the(eln, 'ro-crate-metadata.json');
    return differs(
      [about, conformsTo, version],
      [{ '@id': './' }, { '@id': 'https://w3id.org/ro/crate/1.1' }, '1.0'],
    );
  },
  'has a publisher with a name, an address and an area': (eln) => {
    const { sdPublisher } = the(eln, 'ro-crate-metadata.json');
    const publisher = refSchema.safeParse(sdPublisher);
    const { name, url, areaServed, ...one } = the(eln, publisher.data?.['@id'] ?? '');
    return one['@type'] === 'Organization' && [name, url, areaServed].every(isText) ? [] : [sdPublisher];
  },
  'has a root with name, description, date and licence, and no version': (eln) => {
    const { name, description, datePublished, license, version } = the(eln, './');
    return [
      ...[name, description, datePublished].filter((text) => !isText(text)),
      ...(refSchema.safeParse(license).success ? [] : [license]),
      ...(version === undefined ? [] : [version]),
    ];
  },
  'has one flat Dataset for readers to import': (eln) => {
    const ids = partsOf(the(eln, './'));
    const [entry] = ids.map((id) => the(eln, id));
    const nested = partsOf(entry).filter((id) => the(eln, id)['@type'] !== 'File');
    return ids.length === 1 && entry?.['@type'] === 'Dataset' ? nested : ids;
  },
  'has an entry with title, text, dates, keywords and kind where readers look': (eln) => {
    const entry = entryOf(eln);
    const texts = ['name', 'text', 'description', 'keywords', 'identifier'].map((key) => entry[key]);
    const times = ['dateCreated', 'dateModified', 'temporal'].map((key) => entry[key]);
    return [
      ...texts.filter((text) => !isText(text)),
      ...times.filter((time) => !TIME.test(String(time))),
      ...differs([entry.encodingFormat, entry.genre], ['text/html', 'experiment']),
      ...(String(entry.description).length <= 300 ? [] : [entry.description]),
      ...String(entry.keywords)
        .split(',')
        .filter((tag) => !/^[\w-]+$/.test(tag)),
    ];
  },
  'has an entry without what eLabFTW takes only once': (eln) => {
    const { citation, license, mentions } = entryOf(eln);
    return [citation, license, mentions].filter((value) => value !== undefined);
  },
  'has one person for an author, everywhere': (eln) => [
    ...(entryOf(eln).author === undefined ? ['none'] : []),
    ...eln.metadata['@graph']
      .filter(({ author }) => author !== undefined)
      .filter(({ author }) => {
        const ref = refSchema.safeParse(author);
        const person = the(eln, ref.data?.['@id'] ?? '');
        return person['@type'] !== 'Person' || !isText(person.name);
      }),
  ],
  'describes each of its files, with size, SHA-256 and type': (eln) => {
    const folder = eln.name.replace(/\.eln$/, '');
    const bytesOf = (id: string) => eln.entries.get(`${folder}/${id.replace(/^\.\//, '')}`);
    const files = eln.metadata['@graph'].filter((one) => one['@type'] === 'File');
    const wrong = files.filter((file) => {
      const bytes = bytesOf(file['@id']);
      if (bytes === undefined) return true;
      const sum = createHash('sha256').update(bytes).digest('hex');
      const hasType = /^[\w.+-]+\/[\w.+-]+$/.test(String(file.encodingFormat));
      return (
        file.contentSize !== String(bytes.length) || file.sha256 !== sum || !hasType || !isText(file.name)
      );
    });
    const described = new Set(files.map((file) => file['@id']));
    const listed = new Set(partsOf(entryOf(eln)));
    const named = [...eln.entries.keys()].map((entry) => `./${entry.slice(folder.length + 1)}`);
    const further = named.filter((id) => id !== './ro-crate-metadata.json');
    return [
      ...wrong,
      ...further.filter((id) => !described.has(id) || !listed.has(id)),
      ...[...described].filter((id) => !listed.has(id)),
    ];
  },
  'is flat: one node for each id, and each reference names one': (eln) => {
    const graph = eln.metadata['@graph'];
    const ids = graph.map((one) => one['@id']);
    const twice = ids.filter((id, at) => ids.indexOf(id) !== at);
    const inner = graph
      .flatMap((one) => Object.values(one).flat())
      .filter((value) => value instanceof Object);
    const unresolved = inner.filter((value) => {
      const { data } = refSchema.safeParse(value);
      return (
        data === undefined || !(ids.includes(data['@id']) || data['@id'] === 'https://w3id.org/ro/crate/1.1')
      );
    });
    return [...twice, ...unresolved];
  },
  'has no node to which nothing leads': ({ metadata }) => {
    const graph = metadata['@graph'];
    const reached = new Set(['ro-crate-metadata.json']);
    for (const id of reached)
      for (const value of Object.values(graph.find((one) => one['@id'] === id) ?? {}).flat())
        reached.add(refSchema.safeParse(value).data?.['@id'] ?? id);
    return graph.filter((one) => !reached.has(one['@id']));
  },
  'has one type for each node, and plain texts where readers want them': ({ metadata }) =>
    metadata['@graph'].flatMap((one) => [
      ...(isText(one['@type']) ? [] : [one['@type']]),
      ...['keywords', 'identifier', 'genre', 'name', 'encodingFormat', 'url', 'contentSize', 'description']
        .map((key) => one[key])
        .filter((value) => value !== undefined && !isText(value)),
    ]),
  'has no Dataset with an address that is no part of it': (eln) =>
    eln.metadata['@graph'].filter((one) => {
      const isOwn = one['@id'].startsWith('#') || ['./', entryOf(eln)['@id']].includes(one['@id']);
      return one['@type'] === 'Dataset' && !isOwn;
    }),
  'has no character that a reader refuses': ({ metadata }) =>
    JSON.stringify(metadata).match(/\\u0000|\\ud[89a-f][\da-f]{2}/gi) ?? [],
};

/** The names of the rules that an `.eln` file breaks. */
export function brokenRules(eln: ElnFile): string[] {
  return Object.entries(ELN_RULES).flatMap(([name, broken]) => (broken(eln).length === 0 ? [] : [name]));
}

/** The Dataset that readers import. */
export function entryOf(eln: ElnFile): Node {
  return the(eln, partsOf(the(eln, './'))[0] ?? '');
}

/** The node with this id; an empty one if there is none. */
export function the({ metadata }: ElnFile, id: string): Node {
  return metadata['@graph'].find((one) => one['@id'] === id) ?? { '@id': id, '@type': undefined };
}

function partsOf(one: Node | undefined): string[] {
  return (refsSchema.safeParse(one?.hasPart).data ?? []).map((ref) => ref['@id']);
}

function isText(value: unknown): boolean {
  return typeof value === 'string' && value.trim() !== '';
}

function differs(value: unknown, expected: unknown): unknown[] {
  return JSON.stringify(value) === JSON.stringify(expected) ? [] : [value];
}
