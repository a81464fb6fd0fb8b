import { messagesIn, readPrompt } from '../sandbox/prompt-reader.ts';
import type { PointedInput, SaidMessage } from './scripted-thread.ts';

/** What a person said in the thread of `root`, at `ts`. */
export type SaidInThread = Omit<SaidMessage, 'message'> & { root: string; ts: string };

/** What was said in an hour, and what buttons sent to the agent. */
export interface PlayedHour {
  said: readonly SaidInThread[];
  sentByPresses: readonly { root: string; text: string }[];
  /** Of everybody. */
  names: readonly string[];
}

/** What the service has got of a thread, and what the thread shows of the bot. */
export interface ThreadRecord {
  /** People's messages at the service, and when it got them (Unix ms). */
  received: readonly { prompt: string; at: number }[];
  /** The contents of the files that went with messages. */
  files: readonly string[];
  shown: string;
}

/** A message at the service, as the bench reads it. */
interface ReadMessage {
  root: string;
  prompt: string;
  text: string;
}

/** What went wrong in an hour, and how soon the agent had the answers to its own questions. */
export interface Judgement {
  /** Questions and answers that the agent has not got. */
  missed: SaidInThread[];
  /** What people said to each other, and the agent got. */
  talk: ReadMessage[];
  /** What the agent got more often than it was said. */
  repeated: ReadMessage[];
  /** What reads as nothing that anybody said. The other counts are wrong then: the frame of prompts is another one. */
  unread: ReadMessage[];
  /** What people pointed at and the service has not got, unless the thread says so. */
  missedInput: { text: string; input: PointedInput }[];
  /** Messages for the bot that it left without a word. */
  ignored: SaidInThread[];
  answerSeconds: number[];
}

/**
 * Compares what was said, and what buttons sent, with what arrived, by thread and text; each message counts once. Throws
 * if somebody said the same to the agent and to people in one thread.
 */
export function judge(hour: PlayedHour, threads: ReadonlyMap<string, ThreadRecord>): Judgement {
  const left = [...threads].flatMap(([root, { received }]) => {
    const said = new Set(hour.said.flatMap((one) => (one.root === root ? [one.text] : [])));
    return received.flatMap(({ prompt, at }) =>
      messagesIn(readPrompt(prompt, hour.names).text, said).map((text) => ({ root, prompt, at, text })),
    );
  });
  const take = (root: string, isSame: (text: string) => boolean) => {
    const index = left.findIndex((one) => one.root === root && isSame(one.text));
    return index < 0 ? undefined : left.splice(index, 1)[0];
  };
  const missed: SaidInThread[] = [];
  const answerSeconds: number[] = [];
  const forAgent = hour.said.filter(({ kind }) => kind === 'question' || kind === 'answer');
  const forNobody = hour.said.filter((one) => !forAgent.includes(one));
  for (const one of forAgent) {
    const found = take(one.root, (text) => isText(text, one));
    if (found === undefined) missed.push(one);
    else if (one.kind === 'answer') answerSeconds.push(found.at / 1_000 - Number(one.ts));
  }
  for (const { root, text } of hour.sentByPresses) take(root, (sent) => sent === text);
  const isAmong = (said: readonly SaidInThread[], { root, text }: Pick<ReadMessage, 'root' | 'text'>) =>
    said.some((one) => one.root === root && isText(text, one));
  const twin = forNobody.find((one) => one.text !== '' && isAmong(forAgent, one));
  if (twin !== undefined) throw new Error(`“${twin.text}” is said to the agent and to people in one thread.`);
  const sorted = Map.groupBy(left, (one) => {
    if (isAmong(forNobody, one)) return 'talk';
    const isPressed = hour.sentByPresses.some(({ root, text }) => root === one.root && text === one.text);
    return isPressed || isAmong(forAgent, one) ? 'repeated' : 'unread';
  });
  const { talk = [], repeated = [], unread = [] } = Object.fromEntries(sorted);
  const ignored = hour.said.filter(
    (one) => one.kind !== 'talk' && !one.isNoticed && (one.kind === 'call' || missed.includes(one)),
  );
  const missedInput = missedInputs(hour.said, threads);
  return { missed, talk, repeated, unread, missedInput, ignored, answerSeconds };
}

/** Whether a prompt's text is what somebody said, with what came with it below: a table, quoted lines or a preview. */
function isText(text: string, { text: said, comesWithMore }: SaidInThread): boolean {
  const more = text.slice(said.length + (said === '' ? 0 : 2));
  return (
    text === said || (comesWithMore && /^[>|[]/.test(more) && text === `${said}${said && '\n\n'}${more}`)
  );
}

function missedInputs(said: readonly SaidInThread[], threads: ReadonlyMap<string, ThreadRecord>) {
  return said.flatMap(({ root, text, pointsAt }) => {
    const record = threads.get(root);
    const missed = pointsAt.filter((input) => record === undefined || !hasArrived(input, record));
    return missed.map((input) => ({ text, input }));
  });
}

/** Whether what somebody pointed at is where it belongs: at the service, or named in the thread as left out. */
function hasArrived(input: PointedInput, { received, files, shown }: ThreadRecord): boolean {
  const has = (words: string) => received.some(({ prompt }) => prompt.includes(words));
  if (input.kind === 'words') return has(input.words);
  if (input.kind === 'file') return files.includes(input.content);
  const { name, secret } = input;
  const isTold = secret !== undefined && (has(secret) || files.includes(secret));
  return !isTold && shown.includes(name) && shown.includes('left out');
}
