import { manifestSchema } from '../../sandbox/slack/manifest-schema.ts';
import type { Channel, Message } from '../../sandbox/slack/slack-workspace.ts';
import type { StepExecution } from '../../sandbox/slack/step-executions.ts';
import { manifestVariant } from '../../setup/manifest-file.ts';
import { type AppScene, openAppScene } from './app-scene.ts';

/** A scene whose app offers the step "Ask the agent", with short words for workflows that run it. */
export class WorkflowStepScene {
  readonly scene: AppScene;

  constructor(scene: AppScene) {
    this.scene = scene;
    scene.slack.app.update(manifestSchema.parse(manifestVariant({ workflowStep: true })));
  }

  /** A new channel that lets steps of workflows in. */
  async channel(): Promise<Channel> {
    const channel = this.scene.channel();
    await this.allow(channel, true);
    return channel;
  }

  /** Lets steps of workflows in, or no longer. */
  async allow(channel: Channel, isAllowed: boolean): Promise<void> {
    await this.scene.sandbox.bot.store.settings.set(channel.teamId, channel.id, this.scene.ada.id, {
      allow_workflow_steps: isAllowed,
    });
  }

  /** A workflow runs the step. */
  run(channel: Channel, question: string, more: Record<string, unknown> = {}): StepExecution {
    const { slack } = this.scene;
    return slack.steps.run(slack.team, 'ask_agent', { channel: channel.id, question, ...more });
  }

  /** Waits until the step is completed, or has failed. */
  async over(execution: StepExecution): Promise<StepExecution> {
    await this.scene.until('the step is over', () => execution.state !== 'running');
    return execution;
  }

  /** The bot's posts in a channel, outside of threads, that quote a question. */
  posts(channel: Channel, question: string): Message[] {
    const { slack } = this.scene;
    return slack
      .messages(channel)
      .filter((one) => one.threadTs === undefined && slack.visibleText(one).includes(question));
  }

  /** The question's post, once it is there. */
  post(channel: Channel, question: string): Promise<Message> {
    return this.scene.until('the question is posted', () => this.posts(channel, question)[0]);
  }
}

/** Opens one; with `onTestFinished` for a scene of one test. */
export async function openWorkflowStepScene(
  ...options: Parameters<typeof openAppScene>
): Promise<WorkflowStepScene> {
  return new WorkflowStepScene(await openAppScene(...options));
}
