import { formatDuration } from '../text/duration.ts';

/** What a mention without a question gets. */
export const help = [
  "Hi! Mention me with a question or a task, and I'll pass it to the agent and show its answer in this thread.",
  'Share files in the same message and the agent reads them. What you write in this thread from now on goes to the agent, too; you need to mention me again only if the thread began without me.',
].join('\n');

export const helpInThread = "I'm listening: write what the agent should do next, or share a file.";

export const helpInDm =
  'Hi! Write what the agent should do, and share the files it should read. Each message here starts a new task; to continue one, reply in its thread.';

/** `/agent help`, in mrkdwn. */
export const commandHelp = [
  "Mention me in a channel with a question, and I'll pass it to the agent and show its answer in the thread. Or:",
  '• `/agent` and your question: ask it in this channel',
  '• `/agent new`: ask with a form, and choose model, skill, title and files',
  '• `/agent status`: what the agent is working on for you here',
  '• `/agent stop`: the same list, with a Stop button for each',
  '• `/agent tasks`: the tasks here',
  '• `/agent settings`: the settings of the channel',
  'You can also choose in a mention: `--model max --skill name --title "A title"` before your question. On any message: “Ask the agent about this”, behind its ⋯.',
].join('\n');

/** A message begins with a flag that is nearly one of ours. */
export function unknownFlag({ typed, meant }: { typed: string; meant: string }): string {
  return `I don't know “--${typed}”, so I didn't send your message. If you mean “--${meant}”, send it again with that.`;
}

/** After a subcommand that does not exist; `word` is escaped. */
export function unknownCommand(word: string): string {
  return `I don't know “/agent ${word}”. ${commandHelp}`;
}

/** What `/agent` answers. */
export const command = {
  asked: "I've posted your question here; the agent answers in its thread.",
  otherWords: '`/agent help` lists what else you can write after `/agent`.',
  noneOfYours: "The agent isn't working on anything for you here.",
  othersRunning: (count: number) =>
    count === 1 ? "It's working on one task for someone else." : `It's working on ${count} tasks for others.`,
  yourTasks: 'The agent is working for you here:',
  more: 'There are more; these are the newest.',
  stopping: 'stopping',
  untitled: 'Getting started',
  since: (ms: number) => `for ${formatDuration(ms)}`,
  unavailable: "That didn't work just now. Please try again in a moment.",
  tooLate: "That took too long, and Slack can't open the window anymore. Please try again.",
} as const;

/** Sent once to a person who writes below a finished thread of direct messages; `url` leads to that thread. */
export function newTaskInDm(url: string | undefined): string {
  const there = url === undefined ? 'reply in its thread' : `reply <${url}|in its thread>`;
  return `This starts a new task, which knows nothing of the previous one. To continue that one, ${there} instead (I say this only once).`;
}

/** Suggestions at the top of direct messages (Slack: 4 prompts). */
export const prompts = {
  title: 'What should the agent do?',
  list: [
    {
      title: 'Summarise a data file',
      message: 'Summarise the attached table: what is in it, and what stands out?',
    },
    {
      title: 'Review the literature',
      message: 'Review the recent literature on this question, with sources: ',
    },
    {
      title: 'Plan an analysis',
      message: 'Plan an analysis of the attached data that answers this question: ',
    },
    { title: 'Check a result', message: 'Check this result for mistakes and for other explanations: ' },
  ],
} as const;
