import { plainText, type RenderedMessage, type SectionBlock } from '../../render/blocks/slack-blocks.ts';
import { escapeMrkdwn } from '../../render/markdown/pings.ts';
import * as strings from '../../render/strings/index.ts';
import { shorten } from '../../render/text/graphemes.ts';

/** Most tasks in the message. */
export const MAX_RUNNING_ROWS = 20;

/** A running task, as `/agent status` lists it. */
export interface RunningTaskRow {
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
  if (rows.length === 0) return textMessage([strings.command.noneOfYours, ...footer].join(' '));
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

function textMessage(text: string): RenderedMessage {
  return { text, blocks: [] };
}

function linkedTitle(title: string | null, url: string | undefined): string {
  const label = shorten((title ?? strings.command.untitled).replace(/\s+/g, ' ').trim(), 150);
  const shown = escapeMrkdwn(label || strings.command.untitled);
  return url === undefined ? shown : `<${url}|${shown.replaceAll('|', '¦')}>`;
}
