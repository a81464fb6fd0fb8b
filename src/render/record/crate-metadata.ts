import { fileType } from '../file-types.ts';
import { displayedFileName } from '../messages/result-list.ts';
import { recordNotes } from '../strings/index.ts';
import { counted } from '../text-format.ts';
import type { RecordedFile, RecordedPerson, RecordedTask, RecordedTurn } from './record-page.ts';

/** The version that every reader takes: https://www.researchobject.org/ro-crate/specification/1.1/ */
const PROFILE = 'https://w3id.org/ro/crate/1.1';
/** 1.1 has no term for it, and one notebook takes no file without it. */
const CONTEXT = [`${PROFILE}/context`, { sha256: 'http://schema.org/sha256' }];
const PUBLISHER = {
  '@id': '#publisher',
  '@type': 'Organization',
  name: 'Taskthread',
  url: 'https://github.com/taskthread/taskthread',
  // Without it, eLabFTW takes the archive for an old one of its own, and changes quotes.
  areaServed: 'Earth',
};
const LICENCE = {
  '@id': '#no-licence',
  '@type': 'CreativeWork',
  name: 'No licence',
  description: 'For the use of those who may read the conversation. No licence is stated.',
};

/** Addresses of articles: DOIs but for those below, PubMed, PMC, preprints. */
const ARTICLE =
  /^https:\/\/(?:doi\.org\/10\.|pubmed\.ncbi\.nlm\.nih\.gov\/\d|(?:www\.)?pmc\.ncbi\.nlm\.nih\.gov\/articles\/|europepmc\.org\/|arxiv\.org\/abs\/|www\.(?:bio|med)rxiv\.org\/content\/)/;
/** DOIs of PDB, PANGAEA, Dryad, Zenodo, CCDC, figshare, Dataverse and Mendeley Data. */
const DATA_DOI = /^https:\/\/doi\.org\/10\.(?:2210|1594|5061|5281|5517|6084|7910|17632)\//;
/** GEO, SRA, BioProject, dbSNP and ClinVar; then what is named. */
const DATABASE =
  /^https:\/\/(?:www\.ncbi\.nlm\.nih\.gov\/(?:geo|sra|bioproject|snp|clinvar)\/|www\.ebi\.ac\.uk\/(?:biostudies|chembl|ena|pride)\/|proteomecentral\.proteomexchange\.org\/|www\.rcsb\.org\/structure\/|www\.uniprot\.org\/uniprotkb\/|www\.ensembl\.org\/id\/)/;

export const PAGE_NAME = 'record.html';
export const METADATA_NAME = 'ro-crate-metadata.json';
/** The folder with the page and all files, side by side: notebooks read no other. */
export const ENTRY_FOLDER = 'task';

/** What the metadata hold of a task, collected while the page is written. */
export interface CrateContent {
  task: RecordedTask;
  turns: Omit<RecordedTurn, 'answer' | 'messages'>[];
  /** What the answers name: labels by address. */
  sources: Map<string, string>;
  /** How many turns are left out. */
  leftOut: number;
  /** The text of a notebook's entry, as HTML. */
  text: string;
  page: { sizeBytes: number; sha256: string };
}

/**
 * The metadata of a record as an RO-Crate and `.eln` file: one flat Dataset, which notebooks import, with all files; people
 * and sources once.
 */
export function crateMetadata(crate: CrateContent): string {
  const { task, turns } = crate;
  const savedAt = time(task.savedAt);
  const files = onceEach(
    turns.flatMap(({ number, writer, filesIn, filesOut }) => [
      ...filesIn.map((file) => fileEntity(file, `Sent to the agent with question ${number}`, writer)),
      ...filesOut.map((file) => fileEntity(file, `Made by the agent for question ${number}`)),
    ]),
  );
  const here = files.filter((file) => file['@type'] === 'File');
  const leftOut = files.filter((file) => file['@type'] !== 'File');
  const people = onceEach([task.starter, ...turns.map(({ writer }) => writer)].map(personEntity));
  const sources = [...crate.sources].map(sourceEntity);
  const about = { '@id': './' };
  const page = { id: task.id, name: PAGE_NAME, mimeType: 'text/html', place: { entry: PAGE_NAME } };
  const pageFile = fileEntity({ ...crate.page, ...page }, 'The record of the task as a page');
  // What the entry has beside its text, for notebooks that keep such values.
  const values = Object.entries({
    Model: task.model,
    Questions: turns.length,
    'Files left out': leftOut.length,
  }).map(valueEntity);
  const entry = entryOf(crate, [pageFile, ...here], { values, people });
  const graph: Entity[] = [
    {
      '@id': METADATA_NAME,
      '@type': 'CreativeWork',
      ...{ about, conformsTo: { '@id': PROFILE }, dateCreated: savedAt },
      // Of the format, which SampleDB checks.
      version: '1.0',
      sdPublisher: refTo(PUBLISHER),
    },
    PUBLISHER,
    LICENCE,
    {
      ...about,
      '@type': 'Dataset',
      ...{ name: task.title, description: entry.description, datePublished: savedAt.slice(0, 10) },
      license: refTo(LICENCE),
      hasPart: [refTo(entry)],
      // Not in the entry: eLabFTW takes only one there.
      citation: sources.map(refTo),
      mentions: leftOut.map(refTo),
    },
    entry,
    pageFile,
    ...values,
    ...people,
    ...files,
    ...sources,
  ];
  return JSON.stringify({ '@context': CONTEXT, '@graph': graph }, readable, 1);
}

type Entity = Readonly<Record<string, unknown> & { '@id': string; '@type': string }>;

/** The Dataset that becomes an entry of a notebook. */
function entryOf(
  { task, turns, text, leftOut }: CrateContent,
  parts: readonly Entity[],
  { values, people }: Record<'values' | 'people', readonly Entity[]>,
): Entity {
  const begun = time(task.begunAt);
  const said = `A conversation in Slack with an AI agent: ${counted(turns.length, 'question')} with answers, steps and files.`;
  const tags = ['AI agent', task.channel, ...turns.flatMap(({ skill }) => skill ?? [])].map(tag);
  return {
    '@id': `./${ENTRY_FOLDER}/`,
    '@type': 'Dataset',
    // Short: eLabFTW shows it below the text.
    description: leftOut === 0 ? said : `${said} ${recordNotes.leftOut(leftOut)}`,
    ...{ name: task.title, text, encodingFormat: 'text/html' },
    ...{ genre: 'experiment', identifier: task.id, url: task.url ?? undefined },
    keywords: [...new Set(tags)].filter((one) => one !== '').join(','),
    ...{ dateCreated: begun, temporal: begun, dateModified: time(turns.at(-1)?.endedAt ?? task.savedAt) },
    author: { '@id': personId(task.starter) },
    contributor: people.slice(1).map(refTo),
    variableMeasured: values.map(refTo),
    hasPart: parts.map(refTo),
  };
}

function valueEntity([name, value]: readonly [string, string | number]): Entity {
  const id = tag(name);
  return { '@id': `#${id}`, '@type': 'PropertyValue', propertyID: `task.${id}`, name, value };
}

function personEntity(person: RecordedPerson): Entity {
  return { '@id': personId(person), '@type': 'Person', name: person.name };
}

/** A file of the archive, or one that is left out, which is no `File`: readers refuse one that is missing. */
function fileEntity(file: RecordedFile, description: string, writer?: RecordedPerson): Entity {
  const { id, name, mimeType, sizeBytes, sha256, ownerId = writer?.id, place } = file;
  const isHere = 'entry' in place;
  return {
    '@id': fileId(file),
    '@type': isHere ? 'File' : 'CreativeWork',
    name: displayedFileName(name),
    description: isHere ? description : `${description}. Not in this archive: ${place.leftOut}.`,
    identifier: id,
    encodingFormat: fileType(name, mimeType),
    contentSize: sizeBytes?.toString(),
    sha256: sha256 ?? undefined,
    // Who asked may not be who shared it.
    author: writer && writer.id === ownerId ? { '@id': personId(writer) } : undefined,
  };
}

/** A Dataset elsewhere is no part of the archive, which RO-Crate asks of one with an address as its id. */
function sourceEntity([url, name]: readonly [string, string], index: number): Entity {
  const type = sourceType(url);
  return { '@id': type === 'Dataset' ? `#source-${index + 1}` : url, '@type': type, name, url };
}

function personId({ id }: RecordedPerson): string {
  return `#person-${encodeURIComponent(id.toWellFormed())}`;
}

/** Half of a surrogate pair cannot be encoded. */
function fileId({ id, place }: RecordedFile): string {
  if ('entry' in place) return `./${ENTRY_FOLDER}/${place.entry}`;
  return `#file-${encodeURIComponent(id.toWellFormed())}`;
}

function onceEach(entities: readonly Entity[]): Entity[] {
  return [...Map.groupBy(entities, ({ '@id': id }) => id).values()].flatMap(([first]) => first ?? []);
}

function refTo({ '@id': id }: Pick<Entity, '@id'>): Pick<Entity, '@id'> {
  return { '@id': id };
}

/** Of the characters that notebooks take in a tag; '' where none is left. */
function tag(text: string): string {
  return text
    .toLowerCase()
    .replace(/[^a-z0-9_äöüß]+/g, '-')
    .replace(/^-|-$/g, '');
}

/** With an offset: SampleDB's Python may read no `Z`. */
function time(at: Date): string {
  return `${at.toISOString().slice(0, 19)}+00:00`;
}

/** Without what readers refuse: a NUL, and half of a surrogate pair. */
function readable(_key: string, value: unknown): unknown {
  return typeof value === 'string' ? value.toWellFormed().replaceAll('\0', '') : value;
}

/** What schema.org calls the page of a source. */
function sourceType(url: string): 'ScholarlyArticle' | 'Dataset' | 'WebPage' {
  if (DATA_DOI.test(url) || DATABASE.test(url)) return 'Dataset';
  return ARTICLE.test(url) ? 'ScholarlyArticle' : 'WebPage';
}
