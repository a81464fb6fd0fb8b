import { Readable } from 'node:stream';
import { buffer } from 'node:stream/consumers';
import { setTimeout as sleep } from 'node:timers/promises';
import type { AgentClient } from '../../agent/agent-client.ts';
import { undefinedIfNotFound } from '../../agent/errors.ts';
import type { Message } from '../../agent/service-schema.ts';
import { uploadFile } from '../../agent/upload-file.ts';
import { isReplySettled } from '../../relay/replies/reply-blocks.ts';
import { NEW_BLOCKS, type RenderedMessage } from '../../render/blocks/slack-blocks.ts';
import { type DisplayedReply, renderReply } from '../../render/messages/reply-message.ts';
import type { Stage } from './stage.ts';

/** A step cannot be played here, or did not go as it should; the message says why or how. */
export class StepEnded extends Error {
  readonly outcome: 'skipped' | 'refused';

  constructor(outcome: StepEnded['outcome'], message: string) {
    super(message);
    this.outcome = outcome;
  }
}

/** A project that the small task leaves. */
export const UNDELETABLE = 'project at the service (no documented call deletes one), with its file';

/** What is played, and how: `play` returns which fallback was needed, or undefined. Throws what refused it, or StepEnded. */
export interface Step {
  name: string;
  play: (stage: Stage, signal: AbortSignal) => Promise<string | undefined>;
  /** Which settings, or assumptions of docs/service-assumptions.md, say how this goes. */
  settings?: readonly string[];
  /** The setting is off by default, because nobody has seen that this works. */
  isOffByDefault?: boolean;
}

const TITLE = 'Taskthread rehearsal';
const TABLE = 'sample,count\nA,1\nB,2\nC,3\n';
const PICTURE = Buffer.from(
  'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==',
  'base64',
);
const READ_TABLE = { kind: 'tool_use', name: 'read_table', input: { rows: 3 } } as const;
const TOOL_CALLS: DisplayedReply['blocks'] = [
  { ...READ_TABLE, id: '1' },
  { kind: 'tool_result', toolUseId: '1', content: '3 rows' },
  { ...READ_TABLE, id: '2' },
];
const LONG_TABLE = `| Sample | Value |\n|---|---|\n${'| A | 0.1 |\n'.repeat(20)}`;
/** As much as one message of an answer holds: the rest is left out. */
const LONG_ANSWER = `## Part\n\n${'Words of this part. '.repeat(25)}\n\n`.repeat(40);
/** What the agent is asked; the second takes it long enough to be stopped. */
const SMALL_TASK =
  'Add up the counts of the attached table, and save the sum as a CSV file. Answer in one sentence.';
const LONG_TASK = 'Write the numbers from one to five thousand in words, each on a line of its own.';
const POLL_MS = 500;

const SLACK_STEPS: readonly Step[] = [
  { name: 'an edit', play: edit },
  showing('a plan block', 'Working.', { phase: 'working', blocks: TOOL_CALLS }),
  showing('a table that people can sort', LONG_TABLE),
  { name: 'a picture block with a file', play: picture },
  showing('a message at the size limit, with headings', LONG_ANSWER),
  { name: 'an upload, shared in the thread', play: upload },
  showing('buttons and thumbs', 'Is it good?'),
  { name: 'a stream in a direct message', play: stream, settings: ['DM_STREAMS'], isOffByDefault: true },
];

const SERVICE_STEPS: readonly Step[] = [
  {
    name: 'a small task with a file each way',
    play: smallTask,
    settings: [
      'sendMessagePath',
      'uploadMethod',
      'uploadFileIdFields',
      'uploadUrlFields',
      'finalizeSingle',
      'messagesAfter',
      'cursorParam',
    ],
  },
  { name: 'a stop', play: stopTask, settings: ['busyStatuses'] },
];

export const STEPS: readonly Step[] = [
  { name: 'a post', play: async (stage) => void (await post(stage)) },
  ...SLACK_STEPS.map(inThread),
  ...SERVICE_STEPS,
];

/** Without the first post, the step would post in the channel. */
function inThread(step: Step): Step {
  const play: Step['play'] = async (stage, signal) => {
    if (stage.posts.length === 0) throw new StepEnded('skipped', 'The first post was refused.');
    return await step.play(stage, signal);
  };
  return { ...step, play };
}

function showing(name: string, text: string, more?: Partial<DisplayedReply>): Step {
  return { name, play: (stage) => stage.show(reply(stage, text, more)) };
}

function reply({ id: turnId }: Stage, text: string, more: Partial<DisplayedReply> = {}): RenderedMessage {
  const blocks = [{ kind: 'text', text } as const, ...(more.blocks ?? [])];
  const state = { turnId, phase: 'done', elapsedMs: 1_000, notes: [TITLE], maxMessages: 1 } as const;
  const [message] = renderReply({ ...state, newBlocks: NEW_BLOCKS, ...more, blocks });
  if (message === undefined) throw new Error('The reply has no message.');
  return message;
}

/** Posts a line in the channel, its thread, or a direct message. */
function post(stage: Stage, channel?: string): Promise<string> {
  return stage.post({ text: TITLE, blocks: [] }, channel);
}

async function edit(stage: Stage): Promise<undefined> {
  const ts = await post(stage);
  const render = () => reply(stage, 'This message was edited.');
  await stage.workspace.posting.editComplete({ channel: stage.channel, ts, render });
}

/** Uploads bytes that nobody sees yet. */
async function stageFile(stage: Stage, name: string, bytes: Buffer): Promise<string> {
  const { uploads } = stage.workspace;
  const file = { name, altText: TITLE, sizeBytes: bytes.length, content: Readable.from([bytes]) };
  const { fileId } = await uploads.stage(file);
  stage.leaves('file in Slack', () => uploads.delete(fileId));
  return fileId;
}

async function picture(stage: Stage): Promise<string | undefined> {
  const id = await stageFile(stage, 'rehearsal.png', PICTURE);
  await stage.workspace.uploads.share({ files: [{ id, title: 'rehearsal.png' }] });
  const figures = new Map([['rehearsal.png', id]]);
  return stage.show(reply(stage, 'A picture:\n\n![One dot](rehearsal.png)\n', { figures }));
}

async function upload(stage: Stage): Promise<undefined> {
  const id = await stageFile(stage, 'rehearsal.csv', Buffer.from(TABLE));
  const { channel, posts } = stage;
  const place = { channel, threadTs: posts[0] };
  await stage.workspace.uploads.share({ ...place, files: [{ id, title: 'rehearsal.csv' }] });
}

async function stream(stage: Stage): Promise<string | undefined> {
  const { workspace, person } = stage;
  if (person === undefined)
    throw new StepEnded('skipped', 'No person was given: add --person and their id (U…).');
  const channel = await workspace.posting.openDm(person);
  const threadTs = await post(stage, channel);
  const started = await workspace.streams.start({ channel, threadTs, markdown: 'One ' });
  if (started === undefined) return 'Slack gave it no permit in time';
  const at = { channel, ts: started.ts };
  stage.leaves('message', () => workspace.posting.delete(at));
  const state = () => ({ isFinal: false, isBlank: false, unseenSinceMs: Date.now() });
  const added = await workspace.streams.append({ ...at, render: () => 'and **two**.', state });
  await workspace.streams.stop(at);
  return added === 'shown' ? undefined : 'Slack added no text to it';
}

async function smallTask(stage: Stage, signal: AbortSignal): Promise<undefined> {
  const { agent } = stage;
  if (agent === undefined) throw new StepEnded('skipped', 'AGENT_BASE_URL and AGENT_API_KEY are not set.');
  const { id: projectId } = await agent.createProject({ title: TITLE });
  stage.leaves(UNDELETABLE, () => Promise.reject(new Error('No call deletes a project.')));
  const bytes = Buffer.from(TABLE);
  const file = await uploadFile(agent, {
    ...{ projectId, filename: 'rehearsal.csv', mimeType: 'text/csv', sizeBytes: bytes.length, signal },
    open: async (offset) => Readable.from([bytes.subarray(offset)]),
  });
  const { id: taskId } = await agent.startTask({ projectId, title: TITLE });
  stage.tasks.push(taskId);
  stage.leaves('task at the service', async () => {
    // A task that does not run refuses it.
    await agent.cancelTask(taskId, { force: true }).catch(() => undefined);
    await undefinedIfNotFound(() => agent.deleteTask(taskId));
  });
  const first = await send(agent, taskId, { content: SMALL_TASK, fileIds: [file.id] }, signal);
  const settled = await settledReply(agent, taskId, first, signal);
  if (settled.status !== 'completed') throw endedOtherwise(settled);
  const { results } = await agent.allResults(taskId, { signal });
  if (results.length === 0) throw new StepEnded('refused', 'the agent made no file');
  const link = results[0]?.downloadUrl;
  if (!link) throw new StepEnded('refused', 'its file has no link');
  const { body } = await agent.links.get(link, signal);
  if ((await buffer(body)).length === 0) throw new StepEnded('refused', 'its file is empty');
}

async function stopTask({ agent, tasks: [taskId] }: Stage, signal: AbortSignal): Promise<undefined> {
  if (agent === undefined || taskId === undefined)
    throw new StepEnded('skipped', 'There is no task to stop.');
  const { id } = await send(agent, taskId, { content: LONG_TASK }, signal);
  if (isReplySettled(await agent.getMessage(taskId, id, { signal })))
    throw new StepEnded('refused', 'the answer was complete before the stop');
  await agent.cancelMessage(taskId, id, { signal });
  const settled = await settledReply(agent, taskId, { id }, signal);
  if (![settled.status, settled.stopReason].includes('cancelled')) throw endedOtherwise(settled);
}

/** Names documented statuses only: another one is the service's own text. */
function endedOtherwise({ status }: Pick<Message, 'status'>): StepEnded {
  const known = ['completed', 'cancelled', 'failed'].find((word) => word === status);
  return new StepEnded('refused', `the answer ended as ${known ?? 'nothing known'}`);
}

/** Sends a message, and returns its reply once that has begun: the send itself may stay open. */
async function send(
  agent: AgentClient,
  taskId: string,
  message: { content: string; fileIds?: string[] },
  signal: AbortSignal,
): Promise<Pick<Message, 'id'>> {
  const before = await agent.lastMessage(taskId);
  const sending = agent.sendMessage(taskId, message, { signal });
  const begun = (async () => {
    for (;;) {
      for await (const one of agent.messagesAfter(taskId, before?.id ?? null, { signal }))
        if (one.role === 'assistant') return one;
      await sleep(POLL_MS, undefined, { signal });
    }
  })();
  await Promise.race([sending, begun]);
  return begun;
}

async function settledReply(
  agent: AgentClient,
  taskId: string,
  { id }: Pick<Message, 'id'>,
  signal: AbortSignal,
) {
  for (;;) {
    const read = await agent.getMessage(taskId, id, { signal });
    if (isReplySettled(read)) return read;
    await sleep(POLL_MS, undefined, { signal });
  }
}
