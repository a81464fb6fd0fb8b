/** A file by its name and the digest of its bytes. */
export type FileFingerprint = string;

/** What a person said to the bot. */
export interface SaidMessage {
  /** Channel and root, joined by a slash. */
  thread: string;
  channel: string;
  ts: string;
  /** Said in one thread only, though perhaps several times there. */
  text: string;
  files: readonly FileFingerprint[];
  /** False where Slack gave every copy up, or the root of the thread: the bot need not have it. */
  wasDelivered?: boolean;
}

/** A person's message in a task. */
export interface ServiceMessage {
  text: string;
  files: readonly FileFingerprint[];
}

/** A task of the service, without those that hold nothing. */
export interface ServiceTask {
  id: string;
  project: string;
  /** Oldest first. */
  messages: readonly ServiceMessage[];
  /** The agent's replies, as the service holds them. */
  replies: readonly string[];
  /** Names of its results, each different. */
  results: readonly string[];
}

/** One message of the bot in a thread. */
export interface BotPost {
  /** What of the agent's words it shows. */
  answer: string;
  /** Everything else that it shows. */
  otherText: string;
  /** By which the bot finds it again; undefined where it has none. */
  key: string | undefined;
  /** Whether it looks like work that goes on: a Stop button, or the words of a turn that is not over. */
  looksUnfinished: boolean;
  /** When it was posted and edited (Unix ms) and how it began then, for who looks for the cause of damage. */
  history?: readonly { at: number; text: string }[];
}

export interface ShownThread {
  thread: string;
  /** In their order. */
  posts: readonly BotPost[];
  /** Waiting marks on people's messages. */
  waitingReactions: number;
}

/** Two messages of a thread that were seen waiting at the same moment. */
export interface WaitingPair {
  thread: string;
  earlier: string;
  later: string;
}

/** All that a run found. */
export interface Findings {
  said: readonly SaidMessage[];
  tasks: readonly ServiceTask[];
  threads: readonly ShownThread[];
  waitingPairs: readonly WaitingPair[];
  /** By thread, the ts of its messages in the order in which they went to the service. */
  sent: ReadonlyMap<string, readonly string[]>;
  /** Turns that are not finished, and messages that still wait. */
  unfinished: number;
}

/** The kinds of damage, in the order of the report. */
export const DAMAGE_KINDS = ['lost', 'duplicated', 'outOfOrder', 'repliesWrong', 'stuck'] as const;
export type DamageKind = (typeof DAMAGE_KINDS)[number];

/** What is wrong: one sentence for each case. */
export type Damage = Record<DamageKind, string[]>;

/** Compares what people said with what each task holds and what each thread shows. */
export function findDamage(findings: Findings): Damage {
  const damage: Damage = { lost: [], duplicated: [], outOfOrder: [], repliesWrong: [], stuck: [] };
  const threadOf = new Map(findings.said.map(({ text, thread }) => [text, thread]));
  const tasksOf = new Map<string, ServiceTask[]>();
  for (const task of findings.tasks) {
    for (const thread of threadsIn(task, threadOf, damage)) {
      tasksOf.set(thread, [...(tasksOf.get(thread) ?? []), task]);
    }
  }
  compareProjects(findings, tasksOf, damage);
  for (const [thread, said] of groupBy(findings.said, (message) => message.thread)) {
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
  if (findings.unfinished > 0) damage.stuck.push(`${findings.unfinished} turns or messages are not done`);
  return damage;
}

/** The threads whose messages a task holds: one, unless something went wrong. */
function threadsIn(task: ServiceTask, threadOf: ReadonlyMap<string, string>, damage: Damage): Set<string> {
  const threads = new Set<string>();
  for (const { text } of task.messages) {
    const thread = threadOf.get(text);
    if (thread === undefined) damage.duplicated.push(`${task.id} holds what nobody said: ${text}`);
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
  for (const [channel, messages] of groupBy(said, (message) => message.channel)) {
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
  const held = groupBy(
    tasks.flatMap(({ messages }) => messages),
    (message) => message.text,
  );
  for (const [text, expected] of groupBy(said, (message) => message.text)) {
    const found = held.get(text) ?? [];
    const difference = found.length - expected.length;
    const excused = expected.filter(({ wasDelivered }) => wasDelivered === false).length;
    if (difference < 0) damage.lost.push(...repeat(-difference - excused, `${thread}: ${text}`));
    if (difference > 0) damage.duplicated.push(...repeat(difference, `${thread}: ${text}`));
    // Files that belong to messages that are not there at all are not counted again.
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
    else damage.duplicated.push(`${where}: the file ${file}`);
  }
  for (const [file, left] of missing) damage.lost.push(...repeat(left, `${where}: the file ${file}`));
}

function compareShown(
  thread: string,
  tasks: readonly ServiceTask[],
  shown: ShownThread | undefined,
  damage: Damage,
): void {
  const posts = shown?.posts ?? [];
  let answers = withoutWhitespace(posts.map(({ answer }) => answer).join(''));
  for (const reply of tasks.flatMap(({ replies }) => replies)) {
    const [before = '', ...rest] = answers.split(withoutWhitespace(reply));
    if (rest.length === 0) damage.repliesWrong.push(`${thread} does not show: ${excerpt(reply)}`);
    damage.duplicated.push(...repeat(rest.length - 1, `${thread} shows again: ${excerpt(reply)}`));
    answers = [before, ...rest].join('');
  }
  if (answers !== '') damage.repliesWrong.push(`${thread} shows what is no reply: ${excerpt(answers)}`);
  const otherTexts = posts.map(({ otherText }) => otherText);
  for (const result of tasks.flatMap(({ results }) => results)) {
    const count = otherTexts.filter((otherText) => otherText.includes(result)).length;
    if (count === 0) damage.repliesWrong.push(`${thread} does not show the result ${result}`);
    damage.duplicated.push(...repeat(count - 1, `${thread} shows again: ${result}`));
  }
  compareKeys(thread, posts, damage);
  for (const post of posts) {
    if (post.looksUnfinished) damage.stuck.push(`${thread} still shows: ${excerpt(post.otherText)}`);
  }
  damage.stuck.push(...repeat(shown?.waitingReactions ?? 0, `${thread} has a waiting reaction`));
}

/** Two posts with one key; those that show an answer or a result are counted by what they show. */
function compareKeys(thread: string, posts: readonly BotPost[], damage: Damage): void {
  const empty = posts.filter(
    ({ answer, key }) => answer === '' && key !== undefined && !key.includes('results:'),
  );
  for (const [key, same] of groupBy(empty, (post) => post.key ?? '')) {
    const all = posts.filter((post) => post.key === key).length;
    const again = same.length === all ? all - 1 : same.length;
    damage.duplicated.push(...repeat(again, `${thread} has again the post ${key}`));
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

/** Without white space: a reply that goes on in a second message is split between paragraphs. */
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
  return new Map([...groupBy(list, (item) => item)].map(([item, same]) => [item, same.length]));
}

function groupBy<T>(list: readonly T[], keyOf: (item: T) => string): Map<string, T[]> {
  const groups = new Map<string, T[]>();
  for (const item of list) groups.set(keyOf(item), [...(groups.get(keyOf(item)) ?? []), item]);
  return groups;
}
