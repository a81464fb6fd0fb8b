export const feedback = {
  thanks: 'Thanks for your feedback! To change it, press the other thumb.',
  title: 'Comment on an answer',
  label: "What was good, what wasn't?",
  hint: 'Your app admins read this; the agent does not.',
  tooLate: 'This answer is too old to comment on. Press a thumb below a newer one.',
  saved: 'Thanks, your comment is saved. Your app admins can read it.',
  heading: 'Comments on answers',
  none: 'There are no comments from the last seven days.',
  /** Above a new comment in the channel for feedback; `who` is a name. */
  received: (thumb: string, who: string) => `${thumb} ${who} commented on an answer:`,
} as const;
