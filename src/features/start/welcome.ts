import { timeLimit } from '../../calls/retries-and-waits.ts';
import { accessPolicyFor, closingAt } from '../../relay/access/access-policy.ts';
import { useDenial } from '../../relay/access/rights.ts';
import type { ChannelActor } from '../../relay/runtime/control-request.ts';
import type { RelayDeps } from '../../relay/runtime/deps.ts';
import { isDirectChannel } from '../../relay/runtime/incoming-message.ts';
import type { JobKind } from '../../relay/runtime/job-runner.ts';
import { postJobNotice } from '../../relay/runtime/unknown-outcome.ts';
import {
  buttonElement,
  contextLineBlock,
  messageOfBlocks,
  namedButton,
  type RenderedMessage,
  sectionBlock,
} from '../../render/blocks/slack-blocks.ts';
import { neutralizePings } from '../../render/markdown/pings.ts';
import { noteWithButtons } from '../../render/messages/button-notes.ts';
import * as strings from '../../render/strings/index.ts';
import { JOB_KIND } from '../../store/jobs/jobs.ts';
import { WHOLE_WORKSPACE } from '../../store/workspaces/settings-store.ts';
import { promptsToTry, promptValue } from './offered-prompts.ts';

/** Prompts in the greeting of a person. */
const MAX_TRIED = 3;
/** Prompts that Slack suggests (https://docs.slack.dev/reference/methods/assistant.threads.setSuggestedPrompts). */
const MAX_SUGGESTED = 4;

/** What the value of a button says that opens the form blank. */
const NO_PROMPT = 'new';

/** Says how to begin: once in each channel where the bot was invited, and once to each person in their direct messages. */
export function welcomes(deps: RelayDeps, runDue: () => void) {
  const jobs: JobKind = {
    kind: JOB_KIND.welcome,
    perform: async (job, lease) => {
      if ((await closingAt(deps, job, lease.signal)) !== undefined) return 'done';
      const isDirect = isDirectChannel(job.channel);
      const { welcomes: choice } = await deps.store.settings.get(job.workspace, WHOLE_WORKSPACE);
      if (!isDirect && choice === 'off') return 'done';
      const message = await (isDirect ? greeting(job) : channelWelcome(job));
      return postJobNotice(deps, job, lease, { key: `welcome/${job.channel}`, ...message });
    },
    onGivenUp: 'counted',
  };

  /** Who may ask in a channel, how, and what is sent. */
  async function channelWelcome(place: { workspace: string; channel: string }): Promise<RenderedMessage> {
    const { begin, who, sent, everythingSent } = strings.welcome;
    const { allowedUsers } = await accessPolicyFor(deps, place);
    const { listen_mode } = await deps.store.settings.get(place.workspace, place.channel);
    const lines = [begin, `${who[allowedUsers]} ${listen_mode === 'everything' ? everythingSent : sent}`];
    return noteWithButtons(lines.join('\n'), ['ask_agent'], NO_PROMPT);
  }

  /** What a person can try in their direct messages. */
  async function greeting({ workspace }: { workspace: string }): Promise<RenderedMessage> {
    const { direct, directSent } = strings.welcome;
    const prompts = (await promptsToTry(deps, { workspace, channel: WHOLE_WORKSPACE })).slice(0, MAX_TRIED);
    const tries = prompts.map(({ title, line }) => ({
      ...sectionBlock(neutralizePings(`${title}\n${line}`)),
      accessory: namedButton(buttonElement('ask_agent', promptValue(title), strings.labels.tryPrompt), title),
    }));
    return messageOfBlocks([sectionBlock(direct), ...tries, contextLineBlock(directSent)]);
  }

  /**
   * Greets a person who opens their direct messages and may use the agent there, and has Slack suggest prompts if it lists the
   * app as an agent. Throws a SlackError or a StoreError.
   */
  async function greet(actor: ChannelActor): Promise<void> {
    const { workspace, channel, person } = actor;
    const late = timeLimit(deps.settings.windowLookupMs);
    if ((await closingAt(deps, actor, late)) !== undefined) return;
    const { sessions } = deps.workspace(workspace) ?? {};
    const isWelcomed = await deps.store.channels.isWelcomed(workspace, channel);
    if (isWelcomed && sessions === undefined) return;
    if ((await useDenial(deps, actor, 'anywhere', late)) !== undefined) return;
    if (!isWelcomed) await deps.store.channels.wantWelcome(workspace, channel, person);
    runDue();
    // Last: what Slack refuses here must not cost the greeting.
    if (sessions === undefined) return;
    const prompts = await promptsToTry(deps, { workspace, channel: WHOLE_WORKSPACE });
    const list = prompts.slice(0, MAX_SUGGESTED).map(({ title, prompt }) => ({ title, message: prompt }));
    await sessions.setSuggestedPrompts(channel, strings.prompts.title, list);
  }

  return { jobs, greet };
}
