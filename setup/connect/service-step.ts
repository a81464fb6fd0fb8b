import { probeAccount } from '../../src/agent/account-probe.ts';
import { AgentError } from '../../src/agent/errors.ts';
import { agentDialectSetting } from '../../src/agent/service-options.ts';
import type { Session } from './session.ts';

/** No account has this key, so a service refuses it. */
const NO_KEY = 'npm-run-connect-asks-for-no-account';

/** Connects the agent service: its address and key, both tried without changing anything there. */
export async function connectService(session: Session): Promise<void> {
  const { questions, settings, secretPlace } = session;
  const { baseUrl, privateHosts } = await askAddress(session);
  const apiKey = await questions.ask({
    key: 'agent_api_key',
    message: 'API key',
    where: 'Your key is on the account page of the agent service.',
    default: settings.get('AGENT_API_KEY'),
    secret: true,
    hint: () => '',
    check: async (key) => {
      if (key === '') return 'Paste the key from the account page of the service.';
      if (/\s/.test(key)) return 'A key has no blanks. Copy it again.';
      const problem = await tryService(session, baseUrl, key, privateHosts);
      return problem?.message;
    },
  });
  const changes = {
    AGENT_BASE_URL: baseUrl,
    AGENT_API_KEY: apiKey,
    PRIVATE_HOSTS: privateHosts.length === 0 ? undefined : privateHosts.join(','),
  };
  await settings.save(changes, secretPlace);
}

async function askAddress(session: Session): Promise<{ baseUrl: string; privateHosts: string[] }> {
  const { questions, settings } = session;
  const allowed = (settings.get('PRIVATE_HOSTS') ?? '').split(/[,\s]+/).filter((host) => host !== '');
  for (;;) {
    let privateHost: string | undefined;
    const baseUrl = await questions.ask({
      key: 'agent_base_url',
      message: 'Address of the agent service',
      where: 'It ends with the version, as in https://agent.example.org/v1.',
      default: settings.get('AGENT_BASE_URL'),
      check: async (answer) => {
        const url = URL.parse(answer);
        if (url === null || !/^https?:$/.test(url.protocol))
          return 'This is not an address. It looks like https://agent.example.org/v1.';
        privateHost = undefined;
        const problem = await tryService(session, answer, NO_KEY, allowed);
        if (problem?.isPrivate !== true) return problem?.message;
        privateHost = url.hostname;
        return (await tryService(session, answer, NO_KEY, [...allowed, privateHost]))?.message;
      },
    });
    if (privateHost === undefined) return { baseUrl, privateHosts: allowed };
    const message = `${privateHost} is on a private network or uses plain http. May the bot call it?`;
    const isAllowed = await questions.confirm({ key: 'allow_private_host', message, default: false });
    if (isAllowed) return { baseUrl, privateHosts: [...allowed, privateHost] };
    questions.reject('agent_base_url', 'Enter a public https address, or allow this one.');
  }
}

interface ServiceProblem {
  message: string;
  /** The host would have to be allowed first. */
  isPrivate: boolean;
}

/** Why an address or a key does not work; for `NO_KEY`, that the service refuses it is what should happen. */
async function tryService(
  { settings }: Session,
  baseUrl: string,
  apiKey: string,
  allowedHosts: readonly string[],
): Promise<ServiceProblem | undefined> {
  const serviceOptions = agentDialectSetting.parse(settings.get('AGENT_DIALECT'));
  try {
    const result = await probeAccount({ baseUrl, apiKey, serviceOptions, allowedHosts: [...allowedHosts] });
    if (result === 'no_service' || (result === 'good' && apiKey === NO_KEY)) {
      const message =
        'This address accepts any key, so it is not the service. Check it; it ends with the version (…/v1).';
      return { message, isPrivate: false };
    }
    if (result === 'good' || apiKey === NO_KEY) return undefined;
    return {
      message: 'The service refuses this key. Copy it again from the account page.',
      isPrivate: false,
    };
  } catch (error) {
    if (!(error instanceof AgentError) && !(error instanceof TypeError)) throw error;
    const { host } = new URL(baseUrl);
    const message =
      error instanceof AgentError && error.code === 'unavailable'
        ? `${host} does not answer. Check the address, the network and any proxy. (${error.message})`
        : `This address does not work: ${error.message}`;
    return { message, isPrivate: isAboutPrivateHost(error) };
  }
}

function isAboutPrivateHost(error: unknown): boolean {
  for (let at = error, depth = 0; at instanceof Error && depth < 6; at = at.cause, depth += 1)
    if (/PRIVATE_HOSTS|private address/.test(at.message)) return true;
  return false;
}
