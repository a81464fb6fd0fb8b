/** What an admin reads about the use of the agent. */
export const usage = {
  heading: 'What the agent is used for',
  title: 'Usage',
  about: 'This month and last, by channel and model, without anything that people wrote.',
  show: 'Show the figures',
  csv: 'Send me a CSV by person',
  /** `since` is a month, such as 2026-10. */
  aboutCsv: (since: string) =>
    `The use of the agent in this workspace since ${since} (UTC), a line for each month, person, channel and model; minutes are those of the agent's work. A name is empty if Slack doesn't tell it.`,
  none: 'Nobody has asked anything.',
  all: 'All channels',
  more: (count: number) => `${count === 1 ? '1 more line is' : `${count} more lines are`} in the CSV.`,
  notAdmin: 'Only admins and owners of this workspace can see its usage.',
  notSent: "I couldn't send the usage figures. Please press the button again.",
  defaultModel: 'default model',
  figures: {
    questions: (count: number) => counted(count, 'question'),
    answers: (count: number) => counted(count, 'answer'),
    minutes: (count: number) => `${counted(count, 'minute')} of work`,
    filesIn: (count: number) => `${counted(count, 'file')} in`,
    filesOut: (count: number) => `${counted(count, 'file')} out`,
    stops: (count: number) => `${count} stopped`,
    failures: (count: number) => `${count} failed`,
    thumbsUp: (count: number) => `${count} 👍`,
    thumbsDown: (count: number) => `${count} 👎`,
  },
} as const;

function counted(count: number, noun: string): string {
  return `${count} ${count === 1 ? noun : `${noun}s`}`;
}
