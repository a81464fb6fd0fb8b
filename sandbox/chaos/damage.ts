import { messagesIn } from '../prompt-reader.ts';

/** A file's name and the digest of its bytes. */
export type FileFingerprint = string;

/** A message from a person to the bot. */
export interface SaidMessage {
  /** Channel and root ts, joined by a slash. */
  thread: string;
  channel: string;
  ts: string;
  /** Unique to its thread, though it may occur there several times. */
  text: string;
  files: readonly FileFingerprint[];
  /** What its writer changed the text to; the bot may have sent it as it was before. */
  editedText?: string;
  /** Its writer deleted it; the bot may have sent it before. */
  wasDeleted?: boolean;
  /** Its thread was stopped, so it may never have been sent. */
  wasStopped?: boolean;
  /** False if Slack gave up delivering the event, or that of the thread's root: the bot may not know the message. */
  wasDelivered?: boolean;
}

/** Whether the bot may rightly never send a message. */
export function mayStayUnsent({ wasDelivered, wasDeleted, wasStopped }: SaidMessage): boolean {
  return wasDelivered === false || wasDeleted === true || wasStopped === true;
}

/** A person's message in a task at the service. */
export interface ServiceMessage {
  text: string;
  files: readonly FileFingerprint[];
}

/** A task at the service that holds at least one message. */
export interface ServiceTask {
  id: string;
  project: string;
  /** Oldest first. */
  messages: readonly ServiceMessage[];
  /** The agent's replies as the service stores them. */
  replies: readonly string[];
  /** Names of its results, all different. */
  results: readonly string[];
}

/** One message of the bot in a thread. */
export interface BotPost {
  /** The part of the agent's answer that it shows. */
  answer: string;
  /** All its other text. */
  otherText: string;
  /** The key by which the bot recognises it, if it has one. */
  key: string | undefined;
  /** Whether it has a button or the text of an unfinished turn, or of messages that wait behind a stop. */
  looksUnfinished: boolean;
  /** Its versions (Unix ms) and how each began, to find the cause of damage. */
  history?: readonly { at: number; text: string }[];
}

export interface ShownThread {
  thread: string;
  /** Oldest first. */
  posts: readonly BotPost[];
  /** People's messages that carry the waiting reaction. */
  waitingReactions: number;
}

/** Two messages of a thread that were waiting at the same moment. */
export interface WaitingPair {
  thread: string;
  earlier: string;
  later: string;
}

/** Everything that a run observed. */
export interface Findings {
  said: readonly SaidMessage[];
  tasks: readonly ServiceTask[];
  threads: readonly ShownThread[];
  waitingPairs: readonly WaitingPair[];
  /** The ts of each thread's messages, in the order in which they reached the service. */
  sent: ReadonlyMap<string, readonly string[]>;
  /** Unfinished turns and waiting messages. */
  unfinished: number;
}

/** The kinds of damage, in the order of the report. */
export const DAMAGE_KINDS = ['lost', 'duplicated', 'outOfOrder', 'repliesWrong', 'stuck'] as const;
export type DamageKind = (typeof DAMAGE_KINDS)[number];

/** How much damage there is of each kind. */
export function damageCounts(damage: Damage): Record<string, number> {
  return Object.fromEntries(DAMAGE_KINDS.map((kind) => [kind, damage[kind].length]));
}

export function isUndamaged(damage: Damage): boolean {
  return DAMAGE_KINDS.every((kind) => damage[kind].length === 0);
}

/** One sentence for each case of damage. */
export type Damage = Record<DamageKind, string[]>;

/** Compares people's messages with the content of each task and each thread. */
export function findDamage(observed: Findings): Damage {
  const damage: Damage = { lost: [], duplicated: [], outOfOrder: [], repliesWrong: [], stuck: [] };
  const apart = { ...observed, tasks: observed.tasks.map((task) => withMessagesApart(task, observed.said)) };
  const findings = { ...apart, said: withHeldTexts(apart) };
  const threadOf = new Map(findings.said.map(({ text, thread }) => [text, thread]));
  const tasksOf = new Map<string, ServiceTask[]>();
  for (const task of findings.tasks) {
    for (const thread of threadsIn(task, threadOf, damage)) {
      tasksOf.set(thread, [...(tasksOf.get(thread) ?? []), task]);
    }
  }
  compareProjects(findings, tasksOf, damage);
  for (const [thread, said] of Map.groupBy(findings.said, (message) => message.thread)) {
    const tasks = tasksOf.get(thread) ?? [];
    if (tasks.length > 1) damage.duplicated.push(`${thread} has ${tasks.length} tasks`);
    compareMessages(thread, said, tasks, damage);
    compareShown(
      thread,
      tasks,
      findings.threads.find((shown) => shown.thread === thread),
      damage,
    );
  }
  compareOrder(findings, damage);
  if (findings.unfinished > 0) damage.stuck.push(`${findings.unfinished} turns or messages are unfinished`);
  return damage;
}

/** The task with each message by itself, and the files that were shared with it: a person's may have gone as one. */
function withMessagesApart(task: ServiceTask, said: readonly SaidMessage[]): ServiceTask {
  const texts = new Set(said.flatMap(({ text, editedText = text }) => [text, editedText]));
  const messages = task.messages.flatMap(({ text, files }) => {
    const left = [...files];
    const parts = messagesIn(text, texts);
    return parts.map((part, index) => {
      const shared = said.find((one) => one.text === part || one.editedText === part)?.files ?? [];
      const isLast = index === parts.length - 1;
      const own = left.filter((file) => isLast || shared.includes(file));
      for (const file of own) left.splice(left.indexOf(file), 1);
      return { text: part, files: own };
    });
  });
  return { ...task, messages };
}

/** The messages with the text of their edit if a task holds that; it is unique. */
function withHeldTexts({ said, tasks }: Findings): SaidMessage[] {
  const held = new Set(tasks.flatMap(({ messages }) => messages.map(({ text }) => text)));
  return said.map((message) =>
    message.editedText !== undefined && held.has(message.editedText)
      ? { ...message, text: message.editedText }
      : message,
  );
}

/** The threads whose messages a task holds: more than one is damage. */
function threadsIn(task: ServiceTask, threadOf: ReadonlyMap<string, string>, damage: Damage): Set<string> {
  const threads = new Set<string>();
  for (const { text } of task.messages) {
    const thread = threadOf.get(text);
    if (thread === undefined) damage.duplicated.push(`${task.id} holds a message that nobody sent: ${text}`);
    else threads.add(thread);
  }
  const [first, ...others] = threads;
  for (const other of others) damage.lost.push(`${task.id} of ${first} holds messages of ${other}`);
  return threads;
}

function compareProjects(
  { said }: Findings,
  tasksOf: ReadonlyMap<string, readonly ServiceTask[]>,
  damage: Damage,
): void {
  for (const [channel, messages] of Map.groupBy(said, (message) => message.channel)) {
    const tasks = messages.flatMap(({ thread }) => tasksOf.get(thread) ?? []);
    const projects = new Set(tasks.map(({ project }) => project));
    if (projects.size > 1) damage.duplicated.push(`${channel} has ${projects.size} projects in use`);
  }
}

function compareMessages(
  thread: string,
  said: readonly SaidMessage[],
  tasks: readonly ServiceTask[],
  damage: Damage,
): void {
  const held = Map.groupBy(
    tasks.flatMap(({ messages }) => messages),
    (message) => message.text,
  );
  for (const [text, expected] of Map.groupBy(said, (message) => message.text)) {
    const found = held.get(text) ?? [];
    const difference = found.length - expected.length;
    const excused = expected.filter(mayStayUnsent).length;
    if (difference < 0) damage.lost.push(...repeat(-difference - excused, `${thread}: ${text}`));
    if (difference > 0) damage.duplicated.push(...repeat(difference, `${thread}: ${text}`));
    // The files of missing messages are not counted separately.
    if (difference === 0) compareFiles(`${thread}: ${text}`, expected, found, damage);
  }
}

function compareFiles(
  where: string,
  said: readonly { files: readonly FileFingerprint[] }[],
  held: readonly { files: readonly FileFingerprint[] }[],
  damage: Damage,
): void {
  const missing = countOf(said.flatMap(({ files }) => files));
  for (const file of held.flatMap(({ files }) => files)) {
    const left = missing.get(file) ?? 0;
    if (left > 0) missing.set(file, left - 1);
    else damage.duplicated.push(`${where}: file ${file}`);
  }
  for (const [file, left] of missing) damage.lost.push(...repeat(left, `${where}: file ${file}`));
}

function compareShown(
  thread: string,
  tasks: readonly ServiceTask[],
  shown: ShownThread | undefined,
  damage: Damage,
): void {
  const posts = shown?.posts ?? [];
  let answers = withoutWhitespace(posts.map(({ answer }) => answer).join(''));
  compareReplyOrder(thread, tasks, answers, damage);
  // A turn that is stopped early leaves an empty reply.
  for (const reply of tasks.flatMap(({ replies }) => replies.filter((text) => text.trim() !== ''))) {
    const [before = '', ...rest] = answers.split(withoutWhitespace(reply));
    if (rest.length === 0) damage.repliesWrong.push(`${thread} does not show: ${excerpt(reply)}`);
    damage.duplicated.push(...repeat(rest.length - 1, `${thread} repeats: ${excerpt(reply)}`));
    answers = [before, ...rest].join('');
  }
  if (answers !== '') damage.repliesWrong.push(`${thread} shows text of no reply: ${excerpt(answers)}`);
  const otherTexts = posts.map(({ otherText }) => otherText);
  for (const result of tasks.flatMap(({ results }) => results)) {
    const count = otherTexts.filter((otherText) => otherText.includes(result)).length;
    if (count === 0) damage.repliesWrong.push(`${thread} does not show the result ${result}`);
    damage.duplicated.push(...repeat(count - 1, `${thread} repeats: ${result}`));
  }
  compareKeys(thread, posts, damage);
  for (const post of posts) {
    if (post.looksUnfinished) damage.stuck.push(`${thread} still shows: ${excerpt(post.otherText)}`);
  }
  damage.stuck.push(...repeat(shown?.waitingReactions ?? 0, `${thread} has a waiting reaction`));
}

/** Compares the order of the shown replies with that in their task. */
function compareReplyOrder(
  thread: string,
  tasks: readonly ServiceTask[],
  answers: string,
  damage: Damage,
): void {
  for (const { replies } of tasks) {
    const shown = replies
      .map((reply) => ({ reply, at: answers.indexOf(withoutWhitespace(reply)) }))
      .filter(({ reply, at }) => at >= 0 && reply.trim() !== '');
    for (const [index, { reply, at }] of shown.entries()) {
      if (at < (shown[index - 1]?.at ?? 0))
        damage.outOfOrder.push(`${thread} shows a reply too early: ${excerpt(reply)}`);
    }
  }
}

/** Finds posts that share a key. Those with an answer or a result are already compared by their content. */
function compareKeys(thread: string, posts: readonly BotPost[], damage: Damage): void {
  const empty = posts.filter(
    ({ answer, key }) => answer === '' && key !== undefined && !key.includes('results:'),
  );
  for (const [key, same] of Map.groupBy(empty, (post) => post.key ?? '')) {
    const all = posts.filter((post) => post.key === key).length;
    const again = same.length === all ? all - 1 : same.length;
    damage.duplicated.push(...repeat(again, `${thread} repeats the post ${key}`));
  }
}

function compareOrder({ waitingPairs, sent }: Findings, damage: Damage): void {
  for (const { thread, earlier, later } of waitingPairs) {
    const order = sent.get(thread) ?? [];
    const [first, second] = [order.indexOf(earlier), order.indexOf(later)];
    if (first >= 0 && second >= 0 && second < first) {
      damage.outOfOrder.push(`${thread}: ${later} was sent before ${earlier}, although both waited`);
    }
  }
}

/** Removes white space, because a long reply is split into messages between paragraphs. */
function withoutWhitespace(text: string): string {
  return text.replace(/\s+/g, '');
}

function excerpt(text: string): string {
  return JSON.stringify(text.length > 80 ? `${text.slice(0, 80)}…` : text);
}

function repeat(times: number, sentence: string): string[] {
  return Array.from({ length: Math.max(0, times) }, () => sentence);
}

function countOf(list: readonly string[]): Map<string, number> {
  return new Map([...Map.groupBy(list, (item) => item)].map(([item, same]) => [item, same.length]));
}
