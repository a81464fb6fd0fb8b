import type { Channel } from '../sandbox/slack/slack-workspace.ts';
import { withLeadIn } from '../src/render/prompt-frame.ts';
import * as strings from '../src/render/strings/index.ts';
import { HeldAgent } from './held-agent.ts';
import { type Name, type Stage, Thread } from './scripted-thread.ts';

/** The buttons that people press in the hour, several at the same moment where everybody sees them. */
export async function playPresses(stage: Stage): Promise<void> {
  const { slack } = stage.sandbox;
  const scenes: readonly [minute: number, play: (stage: Stage, channel: Channel) => Promise<void>][] = [
    [3, stopped],
    [7, stoppedInList],
    [10, sentNow],
    [14, heldByStop],
    [19, discarded],
    [23, corrected],
    [27, approved],
    [31, notApproved],
    [35, continued],
    [38, triedAgain],
    [41, chosenAgain],
    [45, resultsUsed],
    [49, replySent],
    [53, movedToNewThread],
  ];
  await Promise.all(
    scenes.map(async ([minute, play], index) => {
      await stage.at(minute);
      await play(stage, slack.createChannel({ name: `buttons-${index}` }));
    }),
  );
}

/** A thread in which the agent is at work, until it is let go or stopped. */
async function working(stage: Stage, channel: Channel, name: Name) {
  const thread = new Thread(stage, channel);
  const held = stage.heldAgent.hold();
  const asked = thread.say(name, held, 'question', { mentions: true });
  await thread.shows(HeldAgent.AT_WORK);
  return { thread, asked, held };
}

async function stopped(stage: Stage, channel: Channel): Promise<void> {
  const { thread, asked } = await working(stage, channel, 'ada');
  await thread.press(['alan', 'grace'], 'stop', (name) => `Stopped by ${name}`);
  await thread.answered(asked);
}

async function stoppedInList(stage: Stage, channel: Channel): Promise<void> {
  const { thread, asked } = await working(stage, channel, 'edsger');
  await stage.sandbox.slack.command({
    person: stage.person('edsger'),
    channel,
    command: '/agent',
    text: 'status',
  });
  await thread.press(['edsger'], 'stop_listed');
  await thread.answered(asked);
}

async function sentNow(stage: Stage, channel: Channel): Promise<void> {
  const { thread, asked, held } = await working(stage, channel, 'barbara');
  const next = thread.say('barbara', 'and the controls', 'question');
  await thread.press(['barbara'], 'send_now');
  stage.heldAgent.letGo(held);
  await thread.answered(asked);
  await thread.answered(next);
}

async function heldByStop(stage: Stage, channel: Channel): Promise<void> {
  const { thread, asked } = await working(stage, channel, 'grace');
  const next = thread.say('grace', 'and then the dose', 'question');
  await thread.tells('grace');
  thread.say('alan', 'stop', 'talk');
  await thread.answered(asked);
  await thread.shows(strings.messagesPaused(1));
  await thread.press(['grace'], 'send_now');
  await thread.press(['ada', 'alan'], 'send_paused', (name) => `${name} sent 1 message`);
  await thread.answered(next);
}

async function discarded(stage: Stage, channel: Channel): Promise<void> {
  const { thread, asked } = await working(stage, channel, 'alan');
  thread.say('alan', 'never mind the dose', 'talk');
  await thread.tells('alan');
  thread.say('grace', 'stop', 'talk');
  await thread.answered(asked);
  await thread.press(['barbara', 'edsger'], 'discard_paused', (name) => `${name} discarded 1 message`);
}

async function corrected(stage: Stage, channel: Channel): Promise<void> {
  const { slack } = stage.sandbox;
  const thread = new Thread(stage, channel);
  const { message } = await thread.ask('ada', 'the mean of colum a', 'question', { mentions: true });
  slack.edit(channel, message.ts, `<@${slack.bot.userId}> the mean of column b`);
  thread.sends(withLeadIn(strings.correctionPrefix, 'the mean of column b'));
  await thread.press(['ada'], 'correct');
}

async function approved(stage: Stage, channel: Channel): Promise<void> {
  await answerPlan(stage, channel, 'go_ahead');
}

async function notApproved(stage: Stage, channel: Channel): Promise<void> {
  await answerPlan(stage, channel, 'stop_here');
}

async function answerPlan(stage: Stage, channel: Channel, answer: 'go_ahead' | 'stop_here'): Promise<void> {
  const thread = new Thread(stage, channel);
  const asked = thread.say('ada', 'read and fit what we have', 'question', {
    mentions: true,
    flags: '--plan ',
  });
  thread.sends(strings.planAnswers[answer]);
  await thread.press(['ada', 'grace'], answer, (name) => strings.buttonUsed(name, answer));
  await thread.answered(asked);
  await thread.shows('You wrote');
}

async function continued(stage: Stage, channel: Channel): Promise<void> {
  const thread = new Thread(stage, channel);
  await thread.ask('alan', '/lengthcut', 'question', { mentions: true });
  thread.sends(strings.continueMessage);
  await thread.press(['barbara', 'ada'], 'continue', (name) => strings.buttonUsed(name, 'continue'));
}

async function triedAgain(stage: Stage, channel: Channel): Promise<void> {
  const thread = new Thread(stage, channel);
  await thread.ask('grace', '/fail', 'question', { mentions: true });
  thread.sends('/fail');
  await thread.press(['grace', 'edsger'], 'retry', (name) => strings.buttonUsed(name, 'retry'));
}

async function chosenAgain(stage: Stage, channel: Channel): Promise<void> {
  const { slack, agent } = stage.sandbox;
  const thread = new Thread(stage, channel);
  const question = 'which of these is chosen?';
  await thread.ask('barbara', question, 'question', { mentions: true, flags: '--model ultra ' });
  await thread.press(['barbara', 'alan'], 'choose_again');
  const person = stage.person('barbara');
  const hasQuestion = () => JSON.stringify(slack.modal(person)?.blocks ?? []).includes(question);
  if (!(await stage.until('the form has the question', hasQuestion))) return;
  await slack.submitView(person, { question, model: 'max' });
  await stage.until('the question is asked again', () =>
    agent.tasks.some(({ title, messages }) => title.startsWith(question) && messages.length > 1),
  );
}

async function resultsUsed(stage: Stage, channel: Channel): Promise<void> {
  const thread = new Thread(stage, channel);
  await thread.ask('edsger', 'what is in this table?', 'question', { mentions: true, file: 'run.csv' });
  await thread.press(['grace', 'edsger'], 'fresh_links');
  await thread.press(['alan'], 'feedback');
  await thread.press(['grace', 'edsger'], 'steps');
}

async function replySent(stage: Stage, channel: Channel): Promise<void> {
  const thread = new Thread(stage, channel);
  thread.say('alan', 'the readers disagree', 'talk');
  await thread.ask('ada', 'which reader is right?', 'question', { mentions: true });
  const first = thread.say('alan', 'and by age?', 'question');
  await thread.press(['alan'], 'send_reply');
  await thread.answered(first);
  const second = thread.say('grace', 'and by lane?', 'question');
  await thread.press(['grace'], 'keep_listening');
  await thread.answered(second);
  await thread.press(['alan', 'edsger'], 'stop_listening', strings.listeningEnded);
}

async function movedToNewThread(stage: Stage, channel: Channel): Promise<void> {
  const thread = new Thread(stage, channel);
  await thread.ask('edsger', 'what is a control?', 'question', { mentions: true });
  await thread.ask('edsger', 'and with more thought?', 'question', { flags: '--model max ' });
  await thread.press(['edsger'], 'new_thread');
}
