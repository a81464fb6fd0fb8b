import type { ChannelActor } from '../../relay/runtime/actors.ts';
import type { RelayDeps } from '../../relay/runtime/deps.ts';
import { threadPermalink } from '../../relay/tasks/task-list.ts';
import { plainText, type RenderedMessage, type SectionBlock } from '../../render/blocks/slack-blocks.ts';
import { escapeMrkdwn } from '../../render/markdown/pings.ts';
import * as strings from '../../render/strings/index.ts';
import { shorten } from '../../render/text/graphemes.ts';

/** Most tasks in the message. */
const MAX_RUNNING_ROWS = 20;

/** A running task, as `/agent status` lists it. */
interface RunningTaskRow {
  turnId: string;
  title: string | null;
  isStopping: boolean;
  runningMs: number;
  /** Its thread's address; undefined if Slack does not say. */
  url: string | undefined;
}

/** A person's running tasks in a channel, each with a Stop button (`stop`; the value is the turn's id). */
export function runningTasksMessage(rows: readonly RunningTaskRow[], otherCount: number): RenderedMessage {
  const footer = otherCount > 0 ? [strings.command.othersRunning(otherCount)] : [];
  if (rows.length === 0) return { text: [strings.command.noneOfYours, ...footer].join(' '), blocks: [] };
  const more = rows.length > MAX_RUNNING_ROWS ? [strings.command.more] : [];
  const blocks: SectionBlock[] = rows.slice(0, MAX_RUNNING_ROWS).map((row) => {
    const state = row.isStopping ? strings.command.stopping : strings.command.since(row.runningMs);
    const text = `${linkedTitle(row.title, row.url)} · ${state}`;
    const section: SectionBlock = { type: 'section', text: { type: 'mrkdwn', text } };
    if (row.isStopping) return section;
    const button = { type: 'button', action_id: 'stop', text: plainText(strings.buttons.stop) } as const;
    return { ...section, accessory: { ...button, value: row.turnId } };
  });
  return listMessage(strings.command.yourTasks, blocks, [...more, ...footer]);
}

function listMessage(heading: string, blocks: SectionBlock[], below: string[]): RenderedMessage {
  const above: SectionBlock = { type: 'section', text: plainText(heading) };
  if (below.length === 0) return { text: heading, blocks: [above, ...blocks] };
  const note = { type: 'context' as const, elements: [plainText(below.join(' '))] };
  return { text: heading, blocks: [above, ...blocks, note] };
}

function linkedTitle(title: string | null, url: string | undefined): string {
  const label = shorten((title ?? strings.command.untitled).replace(/\s+/g, ' ').trim(), 150);
  const shown = escapeMrkdwn(label || strings.command.untitled);
  return url === undefined ? shown : `<${url}|${shown.replaceAll('|', '¦')}>`;
}

/**
 * What `/agent status` and `/agent stop` answer, for the asker alone to see: their running tasks in a channel, each with
 * a button that stops it. Throws a StoreError.
 */
export async function listRunningTasks(
  deps: RelayDeps,
  { workspace, channel, person }: ChannelActor,
): Promise<RenderedMessage> {
  const { runningTurns } = deps.store;
  const [own, all] = await Promise.all([
    runningTurns.ofUser({ workspace, channel, person }, MAX_RUNNING_ROWS + 1),
    runningTurns.countInChannel(workspace, channel),
  ]);
  const slack = deps.workspace(workspace);
  const rows = await Promise.all(
    own.map(async ({ turn_id, thread_ts, task_title, is_stopping: isStopping, started_at }) => ({
      turnId: turn_id,
      title: task_title,
      isStopping,
      runningMs: Date.now() - started_at.getTime(),
      url: slack && (await threadPermalink(slack, { channel, thread_ts })),
    })),
  );
  return runningTasksMessage(rows, own.length > MAX_RUNNING_ROWS ? 0 : all - own.length);
}
