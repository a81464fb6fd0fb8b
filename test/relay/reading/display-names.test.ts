import { describe, expect, test } from 'vitest';
import { lookUpNames, toldApart } from '../../../src/relay/reading/display-names.ts';
import { parseMessage } from '../../../src/relay/reading/message-parser.ts';
import type { Channel } from '../../../src/slack/directory.ts';

const channel = (id: string): Channel => ({
  id,
  name: 'wei',
  purpose: '',
  kind: 'public',
  isExtShared: false,
});
const namesOf = async (known: Record<string, string>, text = '') => {
  const people = {
    personName: (id: string) => Promise.resolve(known[id] ?? id),
    channel: (id: string) => Promise.resolve(channel(id)),
  };
  const messages = Object.keys(known).map((user) => parseMessage({ user, text }));
  return Object.fromEntries(toldApart(await lookUpNames({ people, channel: 'C1' }, ...messages)));
};

describe('the names that a message needs, for the agent', () => {
  test('are those that people see', async () => {
    const known = { U1: 'Wei', U2: 'Ada' };
    expect(await namesOf(known, 'see <#C9> and <@U3>')).toEqual({ ...known, U3: 'U3', C9: 'wei' });
  });

  test('have the id behind them where several people look the same by name', async () => {
    expect(await namesOf({ U1: 'Wei Zhang', U2: 'Ada', U3: 'wei\u200b zhang' })).toEqual({
      U1: 'Wei Zhang (U1)',
      U2: 'Ada',
      U3: 'wei\u200b zhang (U3)',
    });
  });

  test.each(['Wei  Zhang', 'Wei Zhang\u3164', 'Wei\u034f Zhang'])('look the same: %j', async (name) => {
    expect(await namesOf({ U1: 'Wei Zhang', U2: name })).toEqual({
      U1: 'Wei Zhang (U1)',
      U2: `${name} (U2)`,
    });
  });

  test('have it behind what looks like the id of another', async () => {
    const named = { U1: 'Ada (U0000002) (U1)', U0000002: 'Ada', U3: 'Wei (UCSF)' };
    expect(await namesOf({ U1: 'Ada (U0000002)', U0000002: 'Ada', U3: 'Wei (UCSF)' })).toEqual(named);
  });

  test.each(['agent (you)', 'Builds (APP)'])(
    'have it behind %j, which is how the agent or an app is named',
    async (name) => {
      expect(await namesOf({ U1: name })).toEqual({ U1: `${name} (U1)` });
    },
  );
});
