import { Readable } from 'node:stream';
import { valueIf } from '../calls/retries-and-waits.ts';
import { adminRefusal, readIfAllowed } from '../relay/access/rights.ts';
import type { ButtonHandlers, WorkspaceActor } from '../relay/runtime/control-request.ts';
import type { RelayDeps, WorkspaceClient } from '../relay/runtime/deps.ts';
import { isBotId, isDirectChannel } from '../relay/runtime/incoming-message.ts';
import { sendDirectMessage } from '../relay/runtime/private-notices.ts';
import { createModal, type ViewBlock } from '../render/blocks/modal.ts';
import {
  actionsBlock,
  buttonElement,
  contextLineBlock,
  mrkdwnSection,
  plainText,
} from '../render/blocks/slack-blocks.ts';
import { formatChannel, formatModel } from '../render/blocks/task-lines.ts';
import { csvFile, csvLine } from '../render/csv-line.ts';
import * as strings from '../render/strings/index.ts';
import { lastTwoMonths, USAGE_FIGURES, type UsageRow } from '../store/usage-by-month.ts';
import { type ModalContent, openForAdmins } from './modals.ts';

/** Lines of one month: a modal has 100 blocks. */
const MAX_LINES = 40;
/** Longest lookup of the names in a CSV (ms). Slack allows about 85 people and 40 channels a minute. */
const NAMES_TIMEOUT_MS = 120_000;

const words = strings.usage;
const ONLY_ADMINS = { control: 'usage', refusal: words.notAdmin };

/** What the agent is used for: figures for the admins of a workspace, counted when they ask for them. */
export function usageButtons(deps: RelayDeps): ButtonHandlers<'usage_show' | 'usage_csv'> {
  const about = { title: words.title, ...ONLY_ADMINS };
  return {
    usage_show: (press) => openForAdmins(deps, press, about, () => figuresContent(deps, press)),
    usage_csv: (press) => sendCsv(deps, press),
  };
}

/** The section of an admin's Home tab. */
export async function usageSection(): Promise<ViewBlock[]> {
  const buttons = [buttonElement('usage_show', 'show'), buttonElement('usage_csv', 'csv')];
  return [
    { type: 'header', text: plainText(words.heading) },
    contextLineBlock(words.about),
    actionsBlock(buttons),
  ];
}

async function figuresContent({ store }: RelayDeps, actor: WorkspaceActor): Promise<ModalContent> {
  const rows: UsageRow[] = [];
  for await (const row of store.usage.read(lastTwoMonths(actor))) rows.push(row);
  if (rows.length === 0) return words.none;
  const months = Map.groupBy(rows, ({ month }) => month);
  return createModal(words.title, [...months].reverse().flatMap(monthBlocks));
}

/** Sends the figures of each person as CSV into an admin's direct messages. Throws a SlackError or a StoreError. */
async function sendCsv(deps: RelayDeps, actor: WorkspaceActor): Promise<void> {
  const workspace = deps.workspace(actor.workspace);
  if (workspace === undefined) return;
  const channel = await workspace.posting.openDm(actor.person);
  const range = lastTwoMonths(actor);
  const read = () => csvTable(deps.store.usage.read(range, 'person'), nameLookup(workspace));
  // Looking the names up takes minutes.
  const table = await readIfAllowed(() => adminRefusal(deps, actor, ONLY_ADMINS), read);
  if (typeof table === 'string') return sendDirectMessage(deps, actor, table);
  const comment = words.aboutCsv(range.since.toISOString().slice(0, 7));
  const title = 'usage.csv';
  const file = { name: title, sizeBytes: table.length, content: Readable.from([table]) };
  const { fileId: id } = await workspace.uploads.stage(file);
  await workspace.uploads.share({ channel, comment, files: [{ id, title }] });
}

function monthBlocks([month, rows]: [string, UsageRow[]]): ViewBlock[] {
  const busiest = rows.toSorted((one, other) => other.questions - one.questions).slice(0, MAX_LINES);
  const left = rows.length - busiest.length;
  return [
    { type: 'header', text: plainText(month) },
    figuresSection(`*${words.all}*`, rows),
    ...busiest.map((row) =>
      figuresSection(`${formatChannel(row.channel)} · ${formatModel(row.model) || words.defaultModel}`, [
        row,
      ]),
    ),
    ...(left > 0 ? [contextLineBlock(words.more(left))] : []),
  ];
}

function figuresSection(title: string, rows: readonly UsageRow[]): ViewBlock {
  const sums = USAGE_FIGURES.map((figure) => {
    const sum = rows.reduce((before, row) => before + row[figure], 0);
    return words.figures[figure](Math.round(sum));
  });
  return mrkdwnSection(`${title}\n${sums.join(' · ')}`);
}

/** Names of people and channels, for NAMES_TIMEOUT_MS in all; '' for those that Slack has not told by then. */
function nameLookup({ people }: WorkspaceClient) {
  const timeout = AbortSignal.timeout(NAMES_TIMEOUT_MS);
  const inTime = async (id: string, look: () => Promise<string>) => {
    if (id === '' || timeout.aborted) return '';
    return look().catch(valueIf('', () => timeout.aborted));
  };
  return {
    person: async (id: string) => {
      if (isBotId(id)) return '';
      const name = await inTime(id, async () => (await people.person(id, timeout)).name);
      return name === id ? '' : name;
    },
    channel: async (id: string) => {
      if (isDirectChannel(id)) return strings.tasks.direct;
      return inTime(id, async () => {
        const { name = '', kind } = await people.channel(id, timeout);
        // That of a private channel is only for those in it.
        return kind === 'public' ? name : '';
      });
    },
  };
}

/** CSV with a head; values are quoted. */
async function csvTable(rows: AsyncIterable<UsageRow>, names: ReturnType<typeof nameLookup>) {
  const columns = [
    'month',
    'person',
    'personName',
    'channel',
    'channelName',
    'model',
    ...USAGE_FIGURES,
  ] as const;
  let text = `${columns.join(',')}\n`;
  for await (const row of rows) {
    const personName = await names.person(row.person);
    const named = { ...row, personName, channelName: await names.channel(row.channel) };
    text += `${csvLine(columns.map((column) => named[column]))}\n`;
  }
  return Buffer.from(csvFile(text));
}
