import { describe, expect, test } from 'vitest';
import { summary } from '../../sandbox/registry-works.ts';
import { readSummary, summarySchema } from '../../src/registries/pubmed.ts';

const read = (more: object, title = 'A title.', pubdate = '1998 Feb 28') =>
  readSummary(summarySchema.parse(summary(title, pubdate, more)));
const reference = (reftype: string, refsource: string, pmid: number | '' = '') => ({
  ...{ reftype, refsource, pmid, note: '' },
});

describe('a summary of PubMed', () => {
  test('of an article with nothing wrong is found, with its title and year', () => {
    expect(read({})).toEqual({ state: 'found', title: 'A title', year: 1998 });
    expect(read({}, '[A translated title].', '')).toEqual({
      ...{ state: 'found', title: '[A translated title]' },
    });
    expect(read({ sortpubdate: '2004/10/28 00:00' }, 'A title.', '').year).toBe(2004);
  });

  test('of a retracted article names the latest notice, and no comment', () => {
    const references = [
      reference('Comment in', 'Lancet. 1998 Mar 21;351(9106):905; author reply 908-9.', 9525390),
      reference('Retraction in', 'Lancet. 2004 Mar 6;363(9411):750.', 15016483),
      reference('Retraction in', 'Lancet. 2010 Feb 6;375(9713):445.', 20137807),
      reference('Expression of concern in', 'Eur J Gastroenterol Hepatol. 2011 Nov;23(11):1082.', 21971344),
    ];
    const pubtype = ['Journal Article', 'Retracted Publication'];
    const found = { state: 'retracted', since: '2010-02-06', see: 'pmid:20137807' };
    expect(read({ pubtype, references })).toMatchObject(found);
  });

  test.each(['Retraction Notice', 'Retraction of Publication'])(
    'of a notice with the type "%s" is found, and not retracted',
    (type) => {
      const references = [reference('Retraction of', 'Lancet. 1998 Feb 28;351(9103):637-41.', 9500320)];
      expect(read({ pubtype: [type], references }).state).toBe('found');
    },
  );

  test.each([
    ['Expression of concern in', 'concern'],
    ['ExpressionOfConcernIn', 'concern'],
    ['Erratum in', 'corrected'],
    ['Update in', 'superseded'],
    ['Partial retraction in', 'partly_retracted'],
    ['Corrected and republished in', 'superseded'],
    ['Comment in', 'found'],
    ['Expression of concern for', 'found'],
    ['Erratum for', 'found'],
  ])('with a reference "%s" is %s', (reftype, state) => {
    const references = [reference(reftype, 'PLoS One. 2021 Oct;16(10):e0256488.', 34710116)];
    expect(read({ references })).toMatchObject({ state, ...(state !== 'found' && { since: '2021-10' }) });
  });

  test('says by its title that an article is withdrawn or retracted, unless it is a notice', () => {
    expect(read({}, 'WITHDRAWN: A review.').state).toBe('withdrawn');
    expect(read({}, 'Withdrawn: living without a diagnosis.').state).toBe('found');
    expect(read({}, 'RETRACTED: A trial.').state).toBe('retracted');
    expect(read({ pubtype: ['Retraction Notice'] }, 'Retracted: A trial.').state).toBe('found');
  });

  test('of an erratum that has no PMID names its date alone', () => {
    const references = [reference('Erratum in', 'N Engl J Med. 2005 Mar 3;352(9):950')];
    expect(read({ references })).toMatchObject({ state: 'corrected', since: '2005-03-03', see: undefined });
  });

  test('that may hide a retraction is not read', () => {
    for (const pubtype of [undefined, null, 'Retracted Publication', [5]])
      expect(summarySchema.safeParse({ ...summary('A', '1998'), pubtype }).success).toBe(false);
    expect(summarySchema.safeParse({ ...summary('A', '1998'), references: 'Retraction in' }).success).toBe(
      false,
    );
  });
});
