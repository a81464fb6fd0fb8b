import { randomUUID } from 'node:crypto';
import type { ChannelActor } from '../../relay/runtime/control-request.ts';
import { mrkdwnContextBlock, type RenderedMessage, sectionBlock } from '../../render/blocks/slack-blocks.ts';
import * as strings from '../../render/strings/index.ts';
import type { StartFormSubmissions } from './start-form-submission.ts';

/** What `/agent <question>` does: it asks as the form does, in the channel. Throws a StoreError. */
export async function askByCommand(
  submissions: Pick<StartFormSubmissions, 'submit'>,
  { workspace, channel, person }: ChannelActor,
  question: string,
): Promise<RenderedMessage> {
  const unset = { title: undefined, model: undefined, skill: undefined, mode: undefined };
  const values = { ...unset, channel, question, noFallback: false, files: [] };
  const form = { id: randomUUID(), channel, from: channel, viewId: '' };
  const answer = await submissions.submit({ workspace, person, ...form, values });
  if (typeof answer === 'string') return { text: answer, blocks: [] };
  const text = answer === undefined ? strings.command.asked : strings.startForm.slow;
  return { text, blocks: [sectionBlock(text), mrkdwnContextBlock(strings.command.otherWords)] };
}
