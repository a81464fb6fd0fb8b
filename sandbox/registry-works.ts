/** A work as a test or the sandbox describes it: what Crossref's record holds beside its DOI. */
export type RegistryWork = Readonly<Record<string, unknown>>;

/** A date as Crossref writes it. */
export function date(...parts: number[]) {
  return { 'date-parts': [parts] };
}

/** A summary as PubMed writes it, of an article with nothing wrong. */
export function summary(title: string, pubdate: string, more: object = {}): object {
  const rest = { pubtype: ['Journal Article'], references: [], articleids: [], lang: ['eng'] };
  return { title, pubdate, epubdate: '', source: 'J Tests', ...rest, ...more };
}

/** A notice about a work as Crossref's record of that work names it. */
function notice(DOI: string, type: string, label: string, [year, month, day]: [number, number, number]) {
  const at = Date.UTC(year, month - 1, day);
  const moment = { 'date-time': new Date(at).toISOString().replace('.000', ''), timestamp: at };
  return { DOI, type, label, source: 'publisher', updated: { ...date(year, month, day), ...moment } };
}

/** What Crossref has of the works that the sandbox's agent cites, by DOI. */
export const WORKS: readonly (readonly [string, RegistryWork])[] = [
  ['10.1038/nature12373', { title: ['Data that others are compared with'], issued: date(2013, 7, 31) }],
  ['10.5555/plates.2016.96', { title: ['Edge effects in plates of 96 wells'], issued: date(2016, 9) }],
  [
    '10.5555/dyes.2014.7',
    {
      title: ['RETRACTED: Bleaching of reference dyes under bright light'],
      issued: date(2014, 3, 12),
      'updated-by': [notice('10.5555/dyes.2019.1', 'retraction', 'Retraction', [2019, 5, 14])],
    },
  ],
  ['10.5555/dyes.2021.12', { title: ['Reference dyes that keep their signal'], issued: date(2021, 12, 1) }],
  [
    '10.5555/robots.2018.3',
    {
      title: ['Errors of pipetting robots, and their causes'],
      issued: date(2018, 3, 5),
      'updated-by': [notice('10.5555/robots.2018.77', 'correction', 'Correction', [2018, 11, 2])],
    },
  ],
  [
    '10.5555/scales.2019.2',
    { title: ['Scales of signals, compared in four laboratories'], issued: date(2019, 2, 20) },
  ],
  [
    '10.5555/preprints.2022.58',
    {
      title: ['Drift of plate readers during long runs'],
      issued: date(2022, 8, 30),
      type: 'posted-content',
      subtype: 'preprint',
      institution: [{ name: 'Tests' }],
      relation: {
        'is-preprint-of': [{ 'id-type': 'doi', id: '10.5555/readers.2023.9', 'asserted-by': 'subject' }],
      },
    },
  ],
  [
    '10.5555/readers.2023.9',
    { title: ['Drift of plate readers during long runs'], issued: date(2023, 4, 17) },
  ],
];

/** What PubMed has of them, by PMID. */
export const ARTICLES: readonly (readonly [string, object])[] = [
  ['16990137', summary('A description of the assay.', '2006 Sep 22')],
  ['31978945', summary('Another description of it.', '2020 Feb 20')],
];
