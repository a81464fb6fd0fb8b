import type { Figure, Run } from './figure.ts';

/** What nearly every figure depends on. */
const BOT = ['src', 'package-lock.json'];
const SANDBOX = ['sandbox/slack', 'sandbox/agent'];
const CHAOS = [...BOT, ...SANDBOX, 'sandbox/chaos'];
const FUZZ = [...BOT, ...SANDBOX, 'sandbox/fuzz'];
const SCALE = [...BOT, 'bench/scale.ts', 'bench/scale'];

/** Nothing of the kind may happen. */
const none = (field: string, what: string): Figure => ({ field, what, bar: { is: 0 } });

const DAMAGE: readonly Figure[] = [
  none('lost', 'messages lost'),
  none('duplicated', 'messages sent or answered twice'),
  none('outOfOrder', 'messages out of order'),
  none('repliesWrong', 'replies that show something wrong'),
];
const CHAOS_DAMAGE: readonly Figure[] = [...DAMAGE, none('stuck', 'threads that do not go on')];
const HARM: readonly Figure[] = [none('harm', 'answers missing or wrong, crashes, and other harm')];

const LAG = 'doneLagP95Seconds';
const lag = (field: string, seconds: number): Figure => ({
  field,
  what: "from the agent's last word to the whole text in the thread, 95th percentile",
  unit: 's',
  bar: { atMost: seconds },
});
const isWhole: Figure = { field: 'equal', what: 'each thread shows its whole answer', bar: { is: true } };
const age = (atMost: number, pace: string): Figure => ({
  field: 'ageRatio',
  what: `mean age of the text that the thread does not show yet, relative to the best possible with ${pace} a minute`,
  bar: { atMost },
});

/** Live replies of so many seconds at once, in channels. */
function live(threads: number, seconds: number, more: readonly Figure[], most: number): Run {
  return {
    name: `live-${threads}`,
    what: `${threads} replies of ${seconds} s at once${threads > 10 ? ', in ten channels' : ''}`,
    command: ['bench', '--', 'live', '--threads', String(threads), '--seconds', String(seconds)],
    seconds: seconds + 30,
    dependsOn: [...BOT, ...SANDBOX, 'bench/live.ts', 'bench/thread-observer.ts'],
    figures: [...more, lag(LAG, most), none('throttled', 'calls that Slack refused'), isWhole],
  };
}

/** Another bot under the same load: how its best run ended. */
function peer(bot: string, name: string): Figure {
  const words = (value: unknown) => (typeof value === 'number' ? `${value} s` : 'not whole 20 s later');
  return { field: `${bot}.${LAG}`, what: `the same: ${name}`, bar: { shown: 'only' }, words };
}

const bytesPerReply = (index: number, replies: string, atMost: number): Figure => ({
  field: `bytesPerReply.${index}`,
  what: `memory of a live reply of 4,000 characters among ${replies}`,
  unit: 'bytes',
  bar: { atMost },
});

const idle = (index: number, workspaces: string): Figure => ({
  field: `idleStatementsPerSecond.${index}`,
  what: `statements a second of an idle process with ${workspaces}`,
  bar: { atMost: 4 },
});

const perTurn = (field: string, what: string, atMost: number, unit?: string): Figure => ({
  field,
  what,
  bar: { atMost },
  ...(unit === undefined ? {} : { unit }),
});

/** How soon a new person is heard beside a storm. */
const heard = (storm: string, what: string, atMost: number): Figure => ({
  field: `${storm}.signP95Seconds`,
  what: `beside ${what}, until the question of a new person shows a first sign, 95th percentile`,
  unit: 's',
  bar: { atMost },
});

/** How soon a question is heard, relative to the least that a bot does. */
function soonness(index: number, pace: string): Figure[] {
  const shown = { unit: 'times', bar: { shown: 'only' } } as const;
  return [
    { field: `rates.${index}.p50Ratio`, what: `with ${pace}, median`, ...shown },
    { field: `rates.${index}.p95Ratio`, what: 'the same, 95th percentile', ...shown },
  ];
}

/** A run that kills processes or breaks what the bot needs, and then looks for damage. */
function chaos(name: string, what: string, args: readonly string[], seconds: number): Run {
  return { ...randomRun('chaos', name, what, args), seconds, dependsOn: CHAOS, figures: CHAOS_DAMAGE };
}

/** A run that feeds the bot what nobody should, and then looks for harm. */
function fuzz(name: string, what: string, args: readonly string[], seconds: number): Run {
  return { ...randomRun('fuzz', name, what, args), seconds, dependsOn: FUZZ, figures: HARM };
}

function randomRun(script: string, name: string, what: string, args: readonly string[]) {
  const command = [script, '--', ...args];
  return { name: `${script}-${name}`, what, command, seedOption: '--seed' } as const;
}

const DOI_FORMS = [
  ['bare', 'bare'],
  ['parentheses', 'in parentheses'],
  ['markdown', 'in Markdown'],
  ['json', 'in JSON'],
  ['html', 'in HTML'],
  ['fullStop', 'before a full stop'],
] as const;

/** Each figure that a page quotes: the run that measures it, its bar, and what can move it. */
export const RUNS: readonly Run[] = [
  {
    name: 'demo',
    what: 'The demo',
    command: ['demo', '--', '--json'],
    seconds: 40,
    dependsOn: [...BOT, 'sandbox'],
    figures: [
      {
        field: 'firstVisibleSeconds',
        what: 'from a mention to the first visible reply',
        unit: 's',
        bar: { atMost: 1 },
      },
      {
        field: 'takeoverSeconds',
        what: 'from `kill -9` to the next edit of the same reply, by a new process of the program that the image holds',
        unit: 's',
        bar: { atMost: 2 },
      },
      { field: 'edits', what: 'edits for its three replies', bar: { atMost: 15 } },
      none('refused', 'calls that Slack refused'),
    ],
  },
  {
    name: 'crowd',
    what: 'Storms of a minute in one workspace, and new people who ask beside them',
    command: ['bench', '--', 'crowd'],
    seconds: 600,
    dependsOn: [...BOT, ...SANDBOX, 'bench/crowd.ts', 'bench/crowd-upkeep.ts'],
    figures: [
      heard('openings', '2,000 openings of Home tabs', 3),
      heard('names', 'one message with 2,000 names', 3),
      // Slack takes some 300 posts a minute in a workspace.
      heard('mentions', '500 questions by 500 new people', 80),
      {
        field: 'mentions.lookupsEach',
        what: 'calls to Slack to learn who a new person is',
        bar: { atMost: 1 },
      },
      {
        field: 'bytesPerWorkspace',
        what: 'memory of an active workspace beside what is known of it',
        unit: 'bytes',
        bar: { atMost: 20_000 },
      },
      // Of the tokens that are due, each has two hours left.
      {
        field: 'renewals.minutesForAll',
        what: 'until two processes have renewed 8,000 tokens that are due at once, calculated from 25 s',
        unit: 'min',
        bar: { atMost: 120 },
      },
      none('renewals.refused', 'renewals of tokens that Slack refused'),
      {
        field: 'forgetSeconds',
        what: 'forgetting a person with 30,000 messages',
        unit: 's',
        bar: { atMost: 10 },
      },
      {
        field: 'usageSeconds',
        what: 'the usage of 60,000 people in a year, 600,000 questions',
        unit: 's',
        bar: { atMost: 15 },
      },
      {
        field: 'idleWalMbPerHour',
        what: 'WAL of an idle hour with 8,000 workspaces, calculated from a minute',
        unit: 'MB',
        bar: { atMost: 20 },
      },
    ],
  },
  {
    name: 'manners',
    what: 'An hour among people with 91 questions and 32 presses of buttons, played in two minutes',
    command: ['bench', '--', 'manners'],
    seconds: 150,
    dependsOn: [...BOT, ...SANDBOX, 'bench/manners.ts', 'bench/scripted-hour.ts'],
    figures: [
      {
        field: 'botMessagesPerQuestion',
        what: 'messages of the bot for a question: those that stay, and reminders',
        bar: { atMost: 2 },
      },
      none('talkSentToAgent', 'talk sent to the agent'),
      none('questionsMissed', 'questions missed'),
      none('sentAgain', 'messages sent twice'),
      none('unreadPrompts', 'prompts that the bench cannot read'),
      none('waitsInVain', 'scenes that waited in vain'),
      none('missedInput', 'tables, forwarded messages, links and files neither sent nor named as left out'),
      none('ignoredMessages', 'messages for the bot that get no answer'),
      none('ignoredPresses', 'presses of buttons that get no answer'),
      none('reactionsRemoveRefused', 'removals of a reaction that Slack refused'),
      none('remindersLeft', 'reminders of a question of the agent that are left after its answer'),
      {
        field: 'agentQuestionAnsweredP95Seconds',
        what: 'until the agent has the answer to its own question, 95th percentile',
        unit: 's',
        bar: { atMost: 12 },
      },
    ],
  },
  live(10, 60, [age(1.15, '50 edits')], 2),
  live(30, 30, [], 6),
  live(
    100,
    30,
    [
      {
        field: 'firstVisibleP95Seconds',
        what: 'from a mention to the first visible reply, 95th percentile',
        unit: 's',
        bar: { atMost: 12 },
      },
    ],
    20,
  ),
  {
    ...live(10, 60, [age(1.05, '100 additions')], 1.3),
    name: 'live-dm',
    what: '10 replies of 60 s at once that are streamed in direct messages',
    command: ['bench', '--', 'live', '--dm', '--threads', '10', '--seconds', '60'],
    times: 3,
  },
  {
    name: 'peers',
    what: '10 replies of 30 s at once',
    command: ['bench', '--', 'peers'],
    seconds: 330,
    dependsOn: [...BOT, ...SANDBOX, 'bench/peers.ts', 'bench/peers', 'bench/live.ts'],
    figures: [
      lag(`ours.${LAG}`, 2),
      { ...lag(`oursDm.${LAG}`, 1.5), what: 'the same, streamed in direct messages' },
      peer('chatSdkEdit', 'Chat SDK, editing'),
      peer('chatSdkNative', 'Chat SDK, streaming'),
      peer(
        'boltSayStream',
        "Bolt's stream, its buffer tuned to exactly this load; it addresses one person and ends after five minutes",
      ),
    ],
  },
  {
    name: 'connect',
    what: 'From a clean folder to the first answer, with `npm run connect -- --from` alone',
    command: ['bench', '--', 'connect'],
    seconds: 25,
    dependsOn: [...BOT, 'setup', 'bench/connect.ts'],
    figures: [
      { field: 'secondsToFirstAnswer', what: 'until the first answer', unit: 's', bar: { atMost: 30 } },
    ],
  },
  {
    name: 'image-check',
    what: 'The image',
    command: ['image-check'],
    seconds: 300,
    needs: 'a container engine',
    dependsOn: [...BOT, 'Dockerfile', 'sandbox/image-check.ts'],
    figures: [
      { field: 'megabytes', what: 'what it adds to its base', unit: 'MB', bar: { atMost: 45 } },
      none('failed', 'failed checks of its user, its exit codes and its stop'),
    ],
  },
  {
    name: 'render',
    what: 'A reply of 100,000 characters that grows by 200 edits',
    command: ['bench', '--', 'render'],
    seconds: 30,
    times: 3,
    dependsOn: ['src/render', 'src/relay/replies', 'bench/render.ts', 'bench/markdown-answer.ts'],
    figures: [
      {
        field: 'growthRatio',
        what: 'rendering it, relative to rendering it once',
        unit: 'times',
        bar: { atMost: 3 },
      },
    ],
  },
  {
    name: 'dois',
    what: 'A list of real DOIs, each in seven forms in which answers and tools write them',
    command: ['bench', '--', 'dois'],
    seconds: 20,
    needs: 'a list of DOIs',
    dependsOn: ['src/render/messages', 'bench/dois.ts'],
    figures: [
      none('wrong', 'links to another address'),
      { field: 'missedPercent', what: 'missed in the worst form', unit: '%', bar: { atMost: 1 } },
      ...DOI_FORMS.flatMap(([form, what]) => [
        none(`${form}.wrong`, `links to another address, ${what}`),
        { field: `${form}.missedPercent`, what: `missed, ${what}`, unit: '%', bar: { atMost: 1 } },
      ]),
    ],
  },
  {
    name: 'scale',
    what: 'Live replies in one process',
    command: ['bench', '--', 'scale', '--replies', '100,1000'],
    seconds: 240,
    dependsOn: SCALE,
    figures: [bytesPerReply(0, '100', 46_000), bytesPerReply(1, '1,000', 41_000)],
  },
  {
    name: 'ack',
    what: 'Acknowledging events, relative to bare Bolt that commits one row',
    command: ['bench', '--', 'ack'],
    seconds: 50,
    times: 3,
    dependsOn: [...BOT, 'bench/ack.ts', 'bench/ack-baseline.ts'],
    figures: [
      { field: 'p50Ratio', what: 'median', unit: 'times', bar: { atMost: 2 } },
      { field: 'p99Ratio', what: '99th percentile', unit: 'times', bar: { atMost: 2.5 } },
      none('lost', 'acknowledged messages that are lost'),
    ],
  },
  {
    name: 'first-sign',
    what: 'From a mention to the first reply, relative to bare Bolt that posts at once',
    command: ['bench', '--', 'first-sign'],
    seconds: 120,
    dependsOn: [...BOT, ...SANDBOX, 'bench/first-sign.ts', 'bench/bare-bot.ts'],
    figures: [
      ...soonness(0, 'one question a second'),
      ...soonness(1, 'ten a second'),
      ...soonness(2, 'a hundred a second'),
    ],
  },
  {
    name: 'files',
    what: 'A file of 2 GiB from Slack to S3, beside a plain download piped to one PUT',
    command: ['bench', '--', 'files'],
    seconds: 120,
    times: 3,
    dependsOn: [...BOT, ...SANDBOX, 'bench/files.ts', 'bench/plain-copy.ts'],
    figures: [
      { field: 'ratio', what: 'speed, relative to it', unit: 'times', bar: { atLeast: 0.8 } },
      { field: 'rssGrowthMiB', what: 'growth of the memory meanwhile', unit: 'MiB', bar: { atMost: 150 } },
      { field: 'sha256Equal', what: 'what is stored is what was shared', bar: { is: true } },
    ],
  },
  {
    name: 'history',
    what: 'Beside 2,000,000 turns of three months',
    command: ['bench', '--', 'history'],
    seconds: 420,
    dependsOn: [...BOT, 'bench/history.ts', 'sandbox/filled-history.ts'],
    figures: [
      {
        field: 'firstVisibleRatio',
        what: 'the first visible reply, relative to none',
        unit: 'times',
        bar: { atMost: 1.4 },
      },
      {
        field: 'databaseMsRatio',
        what: "the database's time for a turn, with what the idle process asks meanwhile, relative to none",
        unit: 'times',
        bar: { atMost: 1.6 },
      },
      { field: 'metricsMs', what: '`/metrics`', unit: 'ms', bar: { atMost: 20 } },
      none('sequentialScansOfLargeTables', 'sequential scans of large tables'),
      {
        field: 'diskBytesPerTurn',
        what: 'what a short turn takes on disk, with its indexes',
        unit: 'bytes',
        bar: { atMost: 3_500 },
      },
      {
        field: 'retentionSeconds',
        what: 'deleting 100,000 of these turns, with all that belongs to them',
        unit: 's',
        bar: { atMost: 20 },
      },
    ],
  },
  {
    name: 'database',
    what: 'What one database carries',
    command: ['bench', '--', 'database'],
    seconds: 460,
    dependsOn: [...BOT, 'bench/database.ts', 'bench/database-server.ts', 'bench/bare-bot.ts'],
    figures: [
      perTurn('statementsPerTurn', 'statements of a short turn in a new thread', 25.6),
      perTurn('writingTransactionsPerTurn', 'writing transactions of that turn', 10),
      perTurn('walBytesPerTurn', 'its WAL', 12_000, 'bytes'),
      perTurn('postgresCpuMsPerTurn', 'its CPU time in PostgreSQL', 20, 'ms'),
      perTurn('botCpuMsPerTurn', 'its CPU time in the process', 60, 'ms'),
      perTurn('idleMiB', 'memory of an idle process', 220, 'MiB'),
      perTurn('botCpuRatio', 'that time, relative to a bare Bolt app that makes the same calls', 3, 'times'),
      perTurn('statementsPerEdit', 'statements of an edit of a live reply', 1.2),
      perTurn('watchStatementsPerHour', 'statements of watching a task for an hour after its answer', 60),
      idle(0, 'one workspace'),
      idle(1, '1,000 workspaces'),
      // The machine decides it more than the program, whose part is in the CPU time of a turn.
      {
        field: 'turnsPerSecond',
        what: 'short turns a second of two processes with the sandbox, all on the same cores',
        bar: { shown: 'only' },
      },
    ],
  },
  {
    name: 'soak',
    // In five minutes, steps of resident pages that a run never repeats weigh as much as a small leak.
    what: 'Twenty minutes of messages with files and faults, while rows expire',
    command: ['bench', '--', 'soak', '--minutes', '20'],
    seconds: 1_500,
    seedOption: '--seed',
    dependsOn: [...BOT, 'bench/soak.ts', 'bench/expiring-history.ts', 'sandbox/chaos'],
    figures: [
      ...DAMAGE,
      {
        field: 'rssSlopeKiBPerMinute',
        what: 'growth of the memory in a minute',
        unit: 'KiB',
        bar: { atMost: 200 },
      },
      { field: 'handlesSlopePerMinute', what: 'growth of the handles in a minute', bar: { atMost: 1 } },
      {
        field: 'expiredTurnsLeft',
        what: 'turns that retention has left, of the 600 that expire each minute',
        bar: { atMost: 0 },
      },
    ],
  },
  chaos('kills', '20 kills of the bot', ['--kills', '20'], 110),
  chaos('replicas', '20 kills, two processes', ['--kills', '20', '--replicas', '2'], 160),
  chaos(
    'other-hosts',
    '20 kills, two processes that cannot prove the death of each other',
    ['--kills', '20', '--replicas', '2', '--other-hosts'],
    200,
  ),
  chaos(
    'workflows',
    '20 kills while workflows ask, people ask again, save records and have sources replaced, and the agent asks',
    ['--kills', '20', '--workflows', '--streams', '--questions', '--again', '--records', '--sources'],
    200,
  ),
  chaos(
    'database',
    'Ten kills, and a database that fails in seven ways for 12 s each',
    ['--kills', '10', '--database', '12'],
    220,
  ),
  chaos(
    'network',
    'Paths to Slack, the service and the storage that go silent, are reset, are slow or lose answers, for 12 s each, over TLS',
    ['--network', '12', '--tls'],
    300,
  ),
  {
    name: 'chaos-poison',
    what: 'Things that stay bad, one after another',
    command: ['chaos', '--'],
    seconds: 730,
    seedOption: '--poison',
    dependsOn: CHAOS,
    figures: [
      ...CHAOS_DAMAGE,
      none('missed', 'things that stay bad of which nobody is told'),
      {
        field: 'othersDelayedP95Seconds',
        what: 'how much longer others wait, 95th percentile',
        unit: 's',
        bar: { atMost: 3 },
      },
    ],
  },
  {
    ...fuzz('events', '20,000 odd events, and ten questions among them', ['--events', '20000'], 300),
    figures: [...HARM, { field: 'answered', what: 'questions answered', bar: { is: 10 } }],
  },
  fuzz('service', '1,000 wrong or hostile answers of the service', ['--service', '--answers', '1000'], 120),
  fuzz(
    'registries',
    '400 wrong or hostile answers of Crossref, doi.org and PubMed',
    ['--registries', '--answers', '400'],
    180,
  ),
  fuzz(
    'drift',
    'Each field and status of the service and of the registries other than documented, one at a time',
    ['--drift'],
    1_500,
  ),
];

/** What moves each figure besides what its run names. */
const TABLE = 'bench/figures/runs.ts';

/** The runs with a figure that one of these changed files can move. */
export function touchedRuns(runs: readonly Run[], changed: readonly string[]): Run[] {
  const isBelow = (path: string) => changed.some((file) => file === path || file.startsWith(`${path}/`));
  return runs.filter(({ dependsOn }) => [...dependsOn, TABLE].some(isBelow));
}
