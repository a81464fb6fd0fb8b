import { fileType } from '../file-types.ts';
import { withoutSignedLinks } from '../markdown/unsafe-links.ts';
import { recordNotes } from '../strings/index.ts';
import { shorten } from '../text-format.ts';
import type { RecordedFile, RecordedPerson, RecordedTask, RecordedTurn } from './record-page.ts';

/** https://www.researchobject.org/ro-crate/specification/1.2/ */
const PROFILE = 'https://w3id.org/ro/crate/1.2';

export const PAGE_NAME = 'record.html';
export const METADATA_NAME = 'ro-crate-metadata.json';

/** What the metadata hold of a task, collected while the page is written: not what was answered. */
export interface CrateContent {
  task: RecordedTask;
  turns: Omit<RecordedTurn, 'answer'>[];
  /** The addresses that the answers name. */
  sources: Set<string>;
  /** How many turns are left out. */
  leftOut: number;
}

/** The metadata of a record as an RO-Crate: an action for each question; people, files and sources once. */
export function crateMetadata({ task, turns, sources, leftOut }: CrateContent): string {
  const about = { '@id': './' };
  const savedAt = task.savedAt.toISOString();
  const people = [task.starter, ...turns.map(({ writer }) => writer)];
  const files = turns.flatMap(({ filesIn, filesOut }) => [...filesIn, ...filesOut]);
  const description = 'A conversation in Slack with an AI agent: questions, answers, steps and files.';
  const graph = [
    { '@id': METADATA_NAME, '@type': 'CreativeWork', conformsTo: { '@id': PROFILE }, about },
    {
      ...about,
      '@type': 'Dataset',
      name: task.title,
      description: leftOut === 0 ? description : `${description} ${recordNotes.leftOut(leftOut)}`,
      datePublished: savedAt,
      license: 'For the use of those who may read the conversation. No other licence is stated.',
      identifier: task.id,
      url: task.url ?? undefined,
      author: { '@id': personId(task.starter) },
      citation: [...sources].map((url) => ({ '@id': url })),
      hasPart: [{ '@id': PAGE_NAME }],
      mentions: turns.map(({ number }) => ({ '@id': actionId(number) })),
    },
    {
      '@id': PAGE_NAME,
      '@type': 'File',
      name: 'Record of a task',
      encodingFormat: 'text/html',
      dateCreated: savedAt,
    },
    { '@id': '#agent', '@type': 'SoftwareApplication', name: 'Agent', softwareVersion: task.model },
    ...turns.map(actionOf),
    ...people.map((person) => ({ '@id': personId(person), '@type': 'Person', name: person.name })),
    ...files.map(fileEntity),
    ...[...sources].map((url) => ({ '@id': url, '@type': 'WebPage', name: url, url })),
  ];
  const entities = new Map(graph.map((entity) => [entity['@id'], entity]));
  return JSON.stringify({ '@context': `${PROFILE}/context`, '@graph': [...entities.values()] }, null, 1);
}

function actionOf(turn: CrateContent['turns'][number]) {
  const { number, messages, filesIn, filesOut, skill, outcome, endedAt } = turn;
  const asked = messages.map(({ about, text = '' }) =>
    about === undefined ? text : `${text}\n${recordNotes.about(about.writer)} ${about.text}`.trim(),
  );
  const facts = [skill && `Skill: ${skill}.`, outcome && `Outcome: ${outcome}.`];
  return {
    '@id': actionId(number),
    '@type': 'CreateAction',
    name: `Question ${number}`,
    description: [shorten(withoutSignedLinks(asked.join('\n\n')), 1_000), ...facts]
      .filter(Boolean)
      .join('\n'),
    agent: { '@id': personId(turn.writer) },
    instrument: { '@id': '#agent' },
    startTime: messages[0]?.sentAt.toISOString(),
    endTime: endedAt?.toISOString(),
    object: filesIn.map((file) => ({ '@id': fileId(file) })),
    result: [PAGE_NAME, ...filesOut.map(fileId)].map((id) => ({ '@id': id })),
  };
}

function fileEntity(file: RecordedFile) {
  return {
    '@id': fileId(file),
    '@type': 'CreativeWork',
    name: file.name,
    identifier: file.id,
    encodingFormat: fileType(file.name, file.mimeType),
    contentSize: file.sizeBytes?.toString(),
    sha256: file.sha256 ?? undefined,
  };
}

function actionId(number: number): string {
  return `#question-${number}`;
}

function personId({ id }: RecordedPerson): string {
  return `#person-${encodeURIComponent(id.toWellFormed())}`;
}

/** Half of a surrogate pair cannot be encoded. */
function fileId({ id }: RecordedFile): string {
  return `#file-${encodeURIComponent(id.toWellFormed())}`;
}
