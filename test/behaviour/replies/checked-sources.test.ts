import { afterEach, describe, expect, test } from 'vitest';
import type { AgentScript } from '../../../sandbox/agent/agent-script.ts';
import { date, summary } from '../../../sandbox/registry-works.ts';
import type { Channel, Message } from '../../../sandbox/slack/slack-workspace.ts';
import * as strings from '../../../src/render/strings/index.ts';
import { openAppScene } from '../../support/app-scene.ts';
import { unpackedRecord } from '../../support/unpacked-record.ts';

const ANSWERS: Record<string, string> = {
  mixed: `It is a helix [1], and it is not so [2, 3].

## References

1. Watson and Crick: The structure of an acid. doi:10.1038/171737a0
2. Wakefield: Something about bowels. doi:10.1016/s0140-6736(97)11096-0
3. Nobody: A study of nothing at all. doi:10.1234/no.such.work
4. Moths and their wings in winter. doi:10.1371/journal.pone.0033693
5. Counts of many things, as data. doi:10.5281/zenodo.1436372
6. Oceans that are observed. doi:10.1002/essoar.10504562.1
7. A clinical trial of a drug. PMID: 23741377
8. The page of a laboratory: https://www.ensembl.org/info/data
`,
  good: 'See The structure of an acid, doi:10.1038/171737a0.',
  pages: 'See https://www.ensembl.org/info/data and GSE32986.',
  silent: 'See Something about bowels, PMID 9500320, and The structure of an acid, doi:10.1038/171737a0.',
};
const script: AgentScript = async (turn) => {
  const [word = ''] = turn.text.split(/[ ,]/);
  turn.write(ANSWERS[word] ?? `You said: ${turn.text}`);
};
const scene = await openAppScene({
  agent: { script },
  settings: {
    ...{ CHECK_SOURCES: 'crossref,pubmed', CHECK_SOURCES_MAILTO: 'someone@example.org' },
    AGENT_DIALECT: JSON.stringify({ planModeField: 'plan_mode' }),
  },
  limits: { sourceCheckMs: 1_500, sourceLookAgainMs: 500 },
});
const { registry } = scene.sandbox;
if (registry === undefined) throw new Error('There is a registry service.');
const { works, articles, agencies, faults, calls } = registry;

works.set('10.1038/171737a0', { title: ['The structure of an acid'], issued: date(1953, 4, 25) });
works.set('10.1016/s0140-6736(97)11096-0', {
  ...{ title: ['RETRACTED: Something about bowels'], issued: date(1998, 2) },
  'updated-by': [
    {
      ...{ DOI: '10.1016/s0140-6736(10)60175-4', type: 'retraction', label: 'Retraction' },
      ...{ source: 'retraction-watch', updated: date(2010, 2, 6), 'record-id': '4036' },
    },
  ],
});
works.set('10.1371/journal.pone.0033693', { title: ['Neurons of mice'], issued: date(2012, 3, 21) });
works.set('10.1002/essoar.10504562.1', {
  ...{ title: ['How oceans are observed'], issued: date(2020, 10, 27), type: 'posted-content' },
  relation: {
    'is-preprint-of': [{ 'id-type': 'doi', id: '10.1029/2020MS002386', 'asserted-by': 'subject' }],
  },
});
agencies.set('10.5281/zenodo.1436372', 'DataCite');
const concern = {
  ...{ reftype: 'Expression of concern in', pmid: 34710116, note: '' },
  refsource: 'PLoS One. 2021 Oct 28;16(10):e0256488.',
};
articles.set('23741377', summary('A trial of a drug.', '2013', { references: [concern] }));
articles.set('9500320', summary('Something about bowels.', '1998 Feb 28'));

afterEach(async () => {
  faults.clear();
  // A registry that failed is left alone for longer than the tests last, and what it said is kept.
  const { db } = scene.sandbox.bot.store;
  await db.deleteFrom('rate_limits').where('workspace', '=', '').execute();
  await db.deleteFrom('registry_answers').execute();
});

/** A question, once the list of its answer's sources says this. */
async function checked(
  text: string,
  until: string | RegExp,
): Promise<{ channel: Channel; root: Message; list: string }> {
  const channel = scene.channel();
  const root = scene.ask(channel, text);
  const list = await scene.until(`its sources are "${until}"`, () => {
    const shown = listOf(channel, root);
    return (typeof until === 'string' ? shown.includes(until) : until.test(shown)) && shown;
  });
  return { channel, root, list };
}

/** The message with the list of sources. */
function listOf(channel: Channel, root: Message): string {
  const lists = scene.replies(channel, root).map((message) => scene.slack.visibleText(message));
  return lists.find((text) => text.includes(strings.sources)) ?? '';
}

function messagesWithSources(channel: Channel, root: Message): number {
  const texts = scene.replies(channel, root).map((message) => scene.slack.visibleText(message));
  return texts.filter((text) => text.includes(`${strings.sources}\n`)).length;
}

describe('the sources of an answer', () => {
  test('get a line and a mark each, by an edit, and a sum', async () => {
    const { channel, root, list } = await checked('mixed', '8 sources: ');
    expect(list).toContain(
      '8 sources: 2 found, 1 retracted (2010), 1 expression of concern, 1 newer version, ' +
        '1 another title, 1 not found, 1 not checked',
    );
    const lines = [
      '1. 10.1038/171737a0 ✓ found: The structure of an acid (1953)',
      '2. 10.1016/s0140-6736(97)11096-0 ⛔ retracted on 2010-02-06: Something about bowels (1998), notice',
      '3. 10.1234/no.such.work ✗ not found',
      '4. 10.1371/journal.pone.0033693 ⚠ another title: Neurons of mice (2012)',
      '5. 10.5281/zenodo.1436372 ✓ found at DataCite',
      '6. 10.1002/essoar.10504562.1 ↑ newer version: How oceans are observed (2020), the newer one',
      '7. PMID 23741377 ⚠ expression of concern on 2021-10-28: A trial of a drug (2013), notice',
      '8. www.ensembl.org/info/data – not checked',
    ];
    for (const line of lines) expect(list).toContain(line);
    expect(list).toContain(strings.ncbiDisclaimer.text);
    expect(JSON.stringify(scene.replies(channel, root))).toContain(
      'https://doi.org/10.1016/s0140-6736(10)60175-4',
    );
    expect(messagesWithSources(channel, root)).toBe(1);
  });

  test('stand in the record of the task with what was found, and when', async () => {
    const { channel, root } = await checked('mixed, for the record', '8 sources: ');
    const { ts, blocks } = await scene.messageWithButton(channel, root, 'menu');
    const value = /"(save_record\/[^"]+)"/.exec(JSON.stringify(blocks))?.[1] ?? '';
    await scene.slack.click({ person: scene.ada, channel, ts, actionId: 'menu', value });
    const dm = scene.slack.openDm(scene.ada);
    const file = await scene.until(
      'the record is there',
      () => scene.slack.messages(dm).flatMap(({ fileIds }) => fileIds ?? [])[0],
    );
    const { page } = await unpackedRecord(await scene.slack.fileBytes(file));
    expect(page).toMatch(
      /retracted on 2010-02-06: Something about bowels \(1998\) · notice: <a href="([^"]+)">\1<\/a> · checked <time datetime="20/,
    );
    expect(page).toContain('the newer one: <a href="https://doi.org/10.1029/2020ms002386">');
    expect(page).toContain('not found');
    expect(page).toContain(strings.ncbiDisclaimer.url);
  });

  test('are asked about once for an answer, and not again while that is known', async () => {
    const before = calls.length;
    await checked('good', '1 source: 1 found');
    expect(calls.slice(before).map(({ call }) => call)).toEqual(['GET /works']);
    const { channel, root, list } = await checked('good again', '1 source: 1 found');
    expect(calls).toHaveLength(before + 1);
    expect(list).not.toContain(strings.ncbiDisclaimer.text);
    expect(JSON.stringify(scene.replies(channel, root))).not.toContain('replace_sources');
  });

  test('that no registry knows are listed as before', async () => {
    const channel = scene.channel();
    const root = scene.ask(channel, 'pages');
    const before = calls.length;
    await scene.finished(channel, root);
    expect(scene.replies(channel, root)).toHaveLength(1);
    expect(listOf(channel, root)).toContain('1. www.ensembl.org/info/data');
    await scene.expectStays(() => calls.length, before);
  });

  test('that a silent registry says nothing of are not checked, and looked up once more', async () => {
    const silence = Promise.withResolvers<void>();
    faults.add({ call: 'GET esummary', fault: { kind: 'hold', until: silence.promise }, times: 1 });
    const { channel, root, list } = await checked('silent', '2 sources: ');
    expect(list).toContain('2 sources: 1 found, 1 not checked');
    expect(list).toContain('PMID 9500320 – not checked');
    silence.resolve();
    await scene.sandbox.bot.store.db.deleteFrom('rate_limits').where('workspace', '=', '').execute();
    await scene.until('both are found', () => listOf(channel, root).includes('2 sources: 2 found'));
    const done = calls.length;
    await scene.expectStays(() => calls.length, done);
  });

  test('stay listed, not checked, where all registries fail', async () => {
    faults.add({ call: /./, fault: { kind: 'status', status: 503 } });
    const { channel, root, list } = await checked('silent', '2 sources: 2 not checked');
    expect(list).toContain(strings.sourcesNotChecked);
    const { store } = scene.sandbox.bot;
    const jobs = store.db
      .selectFrom('jobs')
      .select('key')
      .where('kind', '=', 'source_check')
      .where('channel', '=', channel.id);
    await scene.until('nothing is tried any more', async () => (await jobs.execute()).length === 0);
    expect(messagesWithSources(channel, root)).toBe(1);
  });

  test('are replaced by the agent on request, once, which gets the ids and what is wrong with each', async () => {
    const { channel, root } = await checked('mixed, please', '8 sources: ');
    const { ts } = await scene.messageWithButton(channel, root, 'replace_sources');
    await scene.slack.click({ person: scene.ada, channel, ts, actionId: 'replace_sources' });
    await scene.slack.click({ person: scene.grace, channel, ts, actionId: 'replace_sources' });
    const [, request = '', ...more] = await scene.until('the agent has it', () => {
      const { texts } = scene.sentToAgent('mixed, please');
      return texts.length > 1 && texts;
    });
    expect(more).toEqual([]);
    expect(request).toContain(strings.replaceSources);
    for (const line of [
      '10.1016/s0140-6736(97)11096-0: retracted on 2010-02-06 (see 10.1016/s0140-6736(10)60175-4)',
      '10.1234/no.such.work: not found',
      '10.1371/journal.pone.0033693: another title',
      '10.1002/essoar.10504562.1: newer version (see 10.1029/2020ms002386)',
      'PMID 23741377: expression of concern on 2021-10-28 (see PMID 34710116)',
    ])
      expect(request).toContain(line);
    expect(request).not.toMatch(/171737a0|zenodo|ensembl|Neurons/);
    await scene.until('the list says who asked', () =>
      listOf(channel, root).includes(strings.buttonUsed('ada', 'replace_sources')),
    );
    const pressed = scene.replies(channel, root).find((message) => message.ts === ts);
    expect(JSON.stringify(pressed?.blocks)).not.toContain('"replace_sources"');
  });

  test('are replaced, too, where somebody has pressed a button of the answer itself', async () => {
    const { channel, root } = await checked('--plan mixed, planned', '8 sources: ');
    const press = async (actionId: string) => {
      const { ts } = await scene.messageWithButton(channel, root, actionId);
      await scene.slack.click({ person: scene.ada, channel, ts, actionId });
    };
    await press('go_ahead');
    await scene.until('the agent goes on', () => scene.sentToAgent('mixed, planned').texts.length === 2);
    await press('replace_sources');
    const third = await scene.until('the agent has it', () => scene.sentToAgent('mixed, planned').texts[2]);
    expect(third).toContain(strings.replaceSources);
    for (const used of ['go_ahead', 'replace_sources'] as const)
      await scene.until('both say who pressed', () =>
        scene.shown(channel, root).includes(strings.buttonUsed('ada', used)),
      );
  });

  test('of somebody who is forgotten while the registries are asked are not found out again', async () => {
    const asked = Promise.withResolvers<void>();
    const removeFault = faults.add({ call: 'GET /works', fault: { kind: 'hold', until: asked.promise } });
    const ivan = scene.slack.createPerson({ name: 'ivan' });
    const channel = scene.channel();
    const before = calls.length;
    const root = scene.ask(channel, 'good, says Ivan', { person: ivan });
    await scene.until('a registry is asked', () => calls.length > before);
    const { store } = scene.sandbox.bot;
    await store.personErasure.eraseUser(root.teamId, ivan.id);
    asked.resolve();
    removeFault();
    const key = { workspace: root.teamId, channel: channel.id, ts: root.ts };
    const { id = '' } = (await store.turns.ofMessage(key)) ?? {};
    const job = { ...key, kind: 'source_check', thread_ts: root.ts, key: id } as const;
    await scene.until('the check is over', async () => (await store.jobs.get(job)) === undefined);
    expect((await store.turns.get(root.teamId, id))?.source_checks).toBeNull();
    expect(listOf(channel, root)).not.toContain('1 source: ');
  });

  test('of kinds that no registry in use knows keep a list without marks', async ({ onTestFinished }) => {
    const options = { agent: { script }, settings: { CHECK_SOURCES: 'pubmed' } };
    const pubmed = await openAppScene(options, onTestFinished);
    const channel = pubmed.channel();
    const root = pubmed.ask(channel, 'good');
    await pubmed.finished(channel, root);
    const { store } = pubmed.sandbox.bot;
    const jobs = store.db.selectFrom('jobs').select('key').where('kind', '=', 'source_check');
    await pubmed.until('the check is over', async () => (await jobs.execute()).length === 0);
    expect(pubmed.shown(channel, root)).toContain(`${strings.sources}\n1. 10.1038/171737a0`);
    expect(pubmed.shown(channel, root)).not.toContain(strings.sourceStates.not_checked.word);
    expect(pubmed.shown(channel, root)).not.toContain(strings.sourcesNotChecked);
    expect(pubmed.sandbox.registry?.calls).toEqual([]);
  });

  test('are nothing that the app asks about where the operator names no registry', async ({
    onTestFinished,
  }) => {
    const plain = await openAppScene({ agent: { script } }, onTestFinished);
    const channel = plain.channel();
    const root = plain.ask(channel, 'mixed');
    await plain.finished(channel, root);
    expect(plain.sandbox.registry).toBeUndefined();
    expect(plain.replies(channel, root)).toHaveLength(1);
    expect(plain.shown(channel, root)).toContain('3. 10.1234/no.such.work');
    const { db } = plain.sandbox.bot.store;
    expect(await db.selectFrom('jobs').select('kind').where('kind', '=', 'source_check').execute()).toEqual(
      [],
    );
  });
});
