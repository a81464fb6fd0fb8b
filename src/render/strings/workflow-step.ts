/** A step of a Slack workflow that asks the agent. */
export const workflowStep = {
  /** The name of a step without a label. */
  unnamed: 'A workflow',
  /** Why a step failed: Slack shows it to the person who keeps the workflow. */
  failed: {
    not_allowed:
      "This channel doesn't let workflow steps ask the agent. Someone in the channel can allow it with “/agent settings”.",
    limit: "This workspace has reached its limit, so I didn't ask the agent. Run the workflow again later.",
    invalid: 'The step needs a channel and a question.',
    not_posted: "I couldn't post the question: I'm not in that channel, or can't post there.",
    refused: 'The question was not sent to the agent.',
    given_up:
      "I couldn't finish this step. The question may have been asked: look for its thread in the channel before you run the workflow again.",
    outputs: 'Slack refused the outputs of this step: update the app with the newest manifest.',
  },
} as const;
