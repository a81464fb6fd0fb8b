import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { readWork, workSchema } from '../../src/registries/crossref-record.ts';
import { anyCharacter } from '../support/any-character.ts';

const on = (...parts: number[]) => ({ 'date-parts': [parts] });
const update = (type: string, DOI: string, source: string, updated?: object, id?: string) => ({
  ...{ type, DOI, source, updated },
  ...(id === undefined ? {} : { 'record-id': id }),
});
const watched = (type: string, DOI: string, updated: object, id: string) =>
  update(type, DOI, 'retraction-watch', updated, id);
const read = (work: object) =>
  readWork(workSchema.parse({ DOI: '10.1234/own', title: ['A title'], ...work }));

/** What Crossref says of the articles and notices whose ids these are. */
const WAKEFIELD = {
  DOI: '10.1016/s0140-6736(97)11096-0',
  issued: on(1998, 2),
  'updated-by': [
    watched('correction', '10.1016/s0140-6736(04)15715-2', on(2004, 3, 6), '17269'),
    watched('retraction', '10.1016/s0140-6736(10)60175-4', on(2010, 2, 6), '4036'),
  ],
};
const WAKEFIELD_NOTICE = {
  DOI: '10.1016/s0140-6736(10)60175-4',
  'update-to': [watched('retraction', '10.1016/s0140-6736(97)11096-0', on(2010, 2, 6), '4036')],
};
const MEHRA = {
  DOI: '10.1016/s0140-6736(20)31180-6',
  issued: on(2020, 5),
  'updated-by': [
    watched('expression_of_concern', '10.1016/s0140-6736(20)31290-3', on(2020, 6, 3), '23527'),
    watched('correction', '10.1016/s0140-6736(20)31249-6', on(2020, 5, 30), '23528'),
    watched('retraction', '10.1016/s0140-6736(20)31324-6', on(2020, 6, 5), '23529'),
    update('retraction', '10.1016/s0140-6736(20)31174-0', 'publisher', on(2020, 5, 22)),
    update('erratum', '10.1016/s0140-6736(20)31324-6', 'publisher', on(2020, 6, 13)),
  ],
  'update-to': [
    update('retraction', '10.1016/s0140-6736(20)31174-0', 'publisher', on(2020, 5, 22)),
    update('retraction', '10.1016/s0140-6736(20)31324-6', 'publisher', on(2020, 5, 22)),
  ],
};
const MEHRA_NOTICE = {
  DOI: '10.1016/s0140-6736(20)31324-6',
  'update-to': [
    watched('retraction', '10.1016/s0140-6736(20)31180-6', on(2020, 6, 5), '23529'),
    update('erratum', '10.1016/s0140-6736(20)31180-6', 'publisher', on(2020, 6, 13)),
  ],
  'updated-by': [update('retraction', '10.1016/s0140-6736(20)31180-6', 'publisher', on(2020, 5, 22))],
};

describe('a record of Crossref', () => {
  test('of a work with nothing wrong is found, with its title and year', () => {
    expect(read({ title: ['Two words'], issued: on(1953, 4, 25), relation: {} })).toEqual({
      ...{ state: 'found', title: 'Two words', year: 1953 },
    });
  });

  test.each([
    ['known to Retraction Watch alone', WAKEFIELD, '2010-02-06', 'doi:10.1016/s0140-6736(10)60175-4'],
    ['whose publisher writes both directions', MEHRA, '2020-06-05', 'doi:10.1016/s0140-6736(20)31324-6'],
  ])('of a retracted article %s names the date and the notice', (_, work, since, see) => {
    expect(read(work)).toMatchObject({ state: 'retracted', since, see });
  });

  test.each([
    ['that says only what it is about', WAKEFIELD_NOTICE],
    ['that calls itself retracted', MEHRA_NOTICE],
  ])('of a notice %s is found, and not retracted', (_, work) => {
    expect(read(work).state).toBe('found');
  });

  test('of an article that was retracted twice has the date and notice of Retraction Watch', () => {
    const twice = [
      update('retraction', '10.1234/later', 'publisher', on(2020, 6, 13)),
      watched('retraction', '10.1234/right', on(2020, 6, 5), '23529'),
    ];
    expect(read({ 'updated-by': twice })).toMatchObject({ since: '2020-06-05', see: 'doi:10.1234/right' });
  });

  test('of an article with one concern, told twice, has an expression of concern', () => {
    const concern = (source: string, id?: string) =>
      update('expression_of_concern', '10.1371/journal.pone.0256488', source, on(2021, 10, 28), id);
    const work = { 'updated-by': [concern('retraction-watch', '33598'), concern('publisher')] };
    const see = 'doi:10.1371/journal.pone.0256488';
    expect(read(work)).toMatchObject({ state: 'concern', since: '2021-10-28', see });
  });

  test.each([
    ['correction', 'corrected'],
    ['erratum', 'corrected'],
    ['addendum', 'corrected'],
    ['partial_retraction', 'partly_retracted'],
    ['withdrawal', 'withdrawn'],
    ['removal', 'withdrawn'],
    ['withdrawn', 'withdrawn'],
    ['removed', 'withdrawn'],
    ['Partial-Retraction', 'partly_retracted'],
    ['concern', 'concern'],
    ['Retraction', 'retracted'],
    ['retraction-and-replacement', 'retracted'],
    ['new_version', 'superseded'],
    ['a new word', 'found'],
  ])('with an update of the type "%s" is %s', (type, state) => {
    const work = { 'updated-by': [update(type, '10.1371/other', 'publisher', on(2012, 5, 8))] };
    expect(read(work).state).toBe(state);
  });

  test('of a partly retracted article that is its own notice leads to itself', () => {
    const own = '10.29328/journal.jcmhs.1001023';
    const both = [update('partial_retraction', own, 'publisher', on(2022, 12, 1))];
    expect(read({ DOI: own, 'updated-by': both, 'update-to': both })).toMatchObject({
      ...{ state: 'partly_retracted', see: `doi:${own}`, since: '2022-12-01' },
    });
  });

  test('of a preprint leads to the article, unless it was retracted', () => {
    const relation = { 'is-preprint-of': [{ 'id-type': 'doi', id: '10.1029/2020MS002386' }] };
    expect(read({ relation })).toMatchObject({ state: 'superseded', see: 'doi:10.1029/2020ms002386' });
    expect(read({ relation, ...WAKEFIELD }).state).toBe('retracted');
    const copy = { relation: { 'is-version-of': [{ 'id-type': 'doi', id: '10.65215/r5bs2d54' }] } };
    expect(read(copy).state).toBe('found');
  });

  test('whose changed entry stands twice is retracted only if somebody else says so', () => {
    const twice = [
      watched('retraction', '10.1148/a', on(2021), '19937'),
      watched('expression_of_concern', '10.1148/a', on(2022), '19937'),
    ];
    expect(read({ 'updated-by': twice }).state).toBe('concern');
    expect(read({ 'updated-by': twice, title: ['RETRACTED: A title'] }).state).toBe('retracted');
    const confirmed = [...twice, update('retraction', '10.1148/b', 'publisher', on(2021))];
    expect(read({ 'updated-by': confirmed }).state).toBe('retracted');
  });

  test.each([
    ['RETRACTED: A title', 'retracted'],
    ['RETRACTED—A title', 'retracted'],
    ['(Retracted) A title', 'retracted'],
    ['Retracted Paper: A title', 'retracted'],
    ['TEMPORARY REMOVAL: A title', 'withdrawn'],
    ['Retracted Article: A title', 'retracted'],
    ['[Retracted] A title', 'retracted'],
    ['RETRACTED ARTICLE A title', 'retracted'],
    ['WITHDRAWN: A title', 'withdrawn'],
  ])('that only its title, "%s", calls %s is so', (title, state) => {
    expect(read({ title: [title] })).toMatchObject({ state, title });
    expect(read({ title: [`On ${title}`] }).state).toBe('found');
  });

  test('of a withdrawn article names the date and the notice, also if its title tells it', () => {
    const withdrawal = update('withdrawal', '10.1016/notice', 'publisher', on(2021, 3, 4));
    for (const title of ['A title', 'WITHDRAWN: A title'])
      expect(read({ title: [title], 'updated-by': [withdrawal] })).toMatchObject({
        ...{ state: 'withdrawn', since: '2021-03-04', see: 'doi:10.1016/notice' },
      });
  });

  test('of a notice is that of no retracted work, whatever its title and directions', () => {
    const notice = { ...WAKEFIELD_NOTICE, title: ['Retracted: A title'] };
    expect(read(notice).state).toBe('found');
    const both = [update('retraction', '10.1016/other', 'publisher', on(2020))];
    const told = { title: ['Retraction notice to “A title”'], 'updated-by': both, 'update-to': both };
    expect(read(told).state).toBe('found');
  });

  test('leads nowhere if what it names is no DOI', () => {
    const see = (id: string) => read({ relation: { 'is-preprint-of': [{ 'id-type': 'doi', id }] } });
    expect(see('10.1029/x').see).toBe('doi:10.1029/x');
    for (const id of ['10.1029/x). And more words', `10.1029/${'x'.repeat(300)}`, 'x', '10.1029/\ud800'])
      expect(see(id)).toMatchObject({ state: 'superseded', see: undefined });
  });

  test('without a date or a title has neither', () => {
    expect(read({ title: [], issued: { 'date-parts': [[null]] } })).toEqual({ state: 'found' });
    expect(read({ title: [' '] }).title).toBeUndefined();
  });

  test('that may hide a retraction is not read', () => {
    for (const odd of ['retracted', {}, [{ DOI: '10.1/x' }], [{ type: 5 }], 5]) {
      expect(workSchema.safeParse({ DOI: '10.1/x', 'updated-by': odd }).success).toBe(false);
      expect(workSchema.safeParse({ DOI: '10.1/x', 'update-to': odd }).success).toBe(false);
    }
  });

  test('is read whatever its title, date and relations are', () => {
    const odd = fc.oneof(fc.anything(), fc.array(fc.string({ unit: anyCharacter })));
    fc.assert(
      fc.property(odd, odd, odd, (title, issued, relation) => {
        const { state, title: shown } = read({ title, issued, relation });
        expect(['found', 'retracted', 'withdrawn', 'superseded']).toContain(state);
        expect(shown?.isWellFormed() ?? true).toBe(true);
      }),
    );
  });
});
