import { execFile } from 'node:child_process';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { parse } from 'yaml';
import { z } from 'zod';
import { manifestSchema } from '../slack/manifest-schema.ts';
import type { Channel, Message, Person, SlackWorkspace, Team } from '../slack/slack-workspace.ts';
import type { StepExecution } from '../slack/step-executions.ts';
import { waitUntil } from '../wait-until.ts';
import type { SaidMessage } from './damage.ts';
import { oneOf } from './random-streams.ts';
import { postedQuestion, postsWith, SETTLE_TIMEOUT_MS } from './side-activity.ts';

const FORM_TIMEOUT_MS = 120_000;
/** How long a form has to open and to fill (ms). */
const FORM_WAIT_MS = 3_000;
const CHANNELS = 3;
const QUESTION = 'what does workflow';
const MANIFEST_PROGRAM = fileURLToPath(new URL('../../setup/manifest.ts', import.meta.url));

const stepEvent = z.looseObject({ event: z.looseObject({ function_execution_id: z.string() }) });

/** The outcome of the steps, for the report. */
export interface WorkflowCounts {
  /** Runs of the step that Slack could deliver. */
  executions: number;
  /** Those that were completed, and whose question was posted once. */
  completedOnce: number;
  leftOpen: number;
}

/** Workflows that ask the agent with a step, beside the people who write. */
export class WorkflowRuns {
  readonly #slack: SlackWorkspace;
  readonly #random: () => number;
  readonly #options: { team: Team; channels: number; question: string };
  readonly #channels: Channel[] = [];
  readonly #runs: { execution: StepExecution; channel: Channel; text: string }[] = [];
  readonly #delivered = new Set<string>();

  /** By default the workflows are those of the first workspace, in three channels. */
  constructor(
    slack: SlackWorkspace,
    random: () => number,
    options: { team?: Team; channels?: number; question?: string } = {},
  ) {
    this.#slack = slack;
    this.#options = { team: slack.team, channels: CHANNELS, question: QUESTION, ...options };
    this.#random = random;
    slack.onAcknowledged((payload) => {
      const { data } = stepEvent.safeParse(payload);
      if (data !== undefined) this.#delivered.add(data.event.function_execution_id);
    });
  }

  /** The app offers the step, and a person makes channels that let steps in. @throws if the bot does not open or save their settings */
  async prepare(): Promise<void> {
    const manifest = await promisify(execFile)(process.execPath, [MANIFEST_PROGRAM, '--workflow-step']);
    this.#slack.app.update(manifestSchema.parse(parse(manifest.stdout)));
    const { channels, team } = this.#options;
    const person = this.#slack.createPerson({ name: 'builder', teamId: team.id });
    for (let count = 1; count <= channels; count += 1) {
      const channel = this.#slack.createChannel({ name: `workflows-${count}`, teamId: team.id });
      await this.#allowSteps(person, channel);
      this.#channels.push(channel);
    }
  }

  /** Opens the channel's settings and saves them; Slack may be so slow that both take several attempts. */
  async #allowSteps(person: Person, channel: Channel): Promise<void> {
    const deadline = performance.now() + FORM_TIMEOUT_MS;
    while (performance.now() < deadline) {
      await this.#slack.command({ person, channel, command: '/agent', text: 'settings' });
      await sleep(FORM_WAIT_MS);
      if (this.#slack.modal(person) === undefined) continue;
      const isFilled = JSON.stringify(this.#slack.modal(person)?.blocks).includes('allow_workflow_steps');
      const values = {
        channel_switches: ['show_steps', 'show_sources', 'send_reminders', 'allow_workflow_steps'],
      };
      const saved = isFilled ? await this.#slack.submitView(person, values) : { acked: false };
      if (this.#slack.modal(person) !== undefined) await this.#slack.closeView(person);
      if (saved.acked && !JSON.stringify(saved).includes('"errors"')) return;
    }
    throw new Error('The settings of a channel could not be saved.');
  }

  /** A workflow runs the step in a random channel; half of them wait for the answer. */
  runOne(): void {
    const channel = oneOf(this.#random, this.#channels);
    const { team, question } = this.#options;
    const text = `${question} wf${this.#runs.length + 1} find`;
    const inputs = {
      channel: channel.id,
      question: text,
      label: 'A workflow of chaos',
      wait_for_answer: this.#random() < 0.5,
    };
    const execution = this.#slack.steps.run(team, 'ask_agent', inputs);
    this.#runs.push({ execution, channel, text });
  }

  /** Waits until every step is completed, or has had its time. */
  async settled(): Promise<void> {
    await this.#slack.settled();
    await waitUntil(() => this.counts().leftOpen === 0, SETTLE_TIMEOUT_MS);
  }

  /** The questions that were posted, as messages whose threads are compared with their tasks. */
  questions(): SaidMessage[] {
    return this.#runs.flatMap(({ channel, text }) =>
      this.#posts(channel, text).map((post) => postedQuestion(post, text)),
    );
  }

  /** How long each step that was completed took. */
  seconds(): number[] {
    return this.#runs.flatMap(({ execution: { begunAt, endedAt } }) =>
      endedAt === undefined ? [] : [(endedAt - begunAt) / 1_000],
    );
  }

  counts(): WorkflowCounts {
    const known = this.#runs.filter(
      ({ execution: { id, state } }) => this.#delivered.has(id) || state !== 'running',
    );
    const completed = known.filter(
      ({ execution, channel, text }) =>
        execution.state === 'succeeded' && this.#posts(channel, text).length === 1,
    );
    const open = known.filter(({ execution }) => execution.state === 'running');
    return { executions: known.length, completedOnce: completed.length, leftOpen: open.length };
  }

  #posts(channel: Channel, text: string): Message[] {
    return postsWith(this.#slack, channel.id, new RegExp(`${text}(?!\\S)`));
  }
}
