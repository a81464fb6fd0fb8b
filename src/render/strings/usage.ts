/** What an admin reads about the use of the agent. */
export const usage = {
  heading: 'What the agent is used for',
  title: 'Usage',
  about: 'This month and last, by channel and model, without anything that people wrote.',
  show: 'Show the figures',
  csv: 'Send me a CSV by person',
  none: 'Nobody has asked anything.',
  all: 'All channels',
  more: (count: number) => `${count} more lines are in the CSV.`,
  notAdmin: 'Only admins and owners of this workspace can see its usage.',
  notSent: "I couldn't send the usage figures. Please press the button again.",
  /** Each follows its number. */
  figures: {
    questions: 'questions',
    answers: 'answers',
    minutes: 'minutes of work',
    filesIn: 'files in',
    filesOut: 'files out',
    stops: 'stopped',
    failures: 'failed',
    thumbsUp: '👍',
    thumbsDown: '👎',
  },
} as const;
