/** Where a DOI may begin: not within a name, a path or an e-mail address; `_` may be the mark of emphasis. */
const START =
  /(?:(?<=\bdoi(?:\.org)?\/(?:[a-z]{3,5}\/)?|\bdoi)|(?<![a-z\d/.@-]|\w_))10\.[1-9]\d{3,8}(?:\.\d+)*(?:\/|%2f)/gi;
const PREFIX = /^10\.[1-9]\d{3,8}(?:\.\d+)*\//;
/** A suffix that is a SICI (ANSI/NISO Z39.56) may hold brackets and ends with its control segment, such as `3.0.CO;2-A`. */
const SICI =
  /^\(?(?:sici\)?)?\d{4}-?\d{3}[\dx](?:(?!10\.\d{4})[^\s"|]){1,150}?\d\.\d\.[a-z]{2};\d(?:-[\w#]?)?/i;
/** What other suffixes hold. The handbook allows all characters, but the rest ends a DOI in prose, Markdown, JSON and HTML. */
const PLAIN = /^(?:(?![-/:=+]10\.[1-9]\d{3,8}\/|--|https?:)[\w.():+=/\ue021-\ue07e-])*/;
/** What follows only a part of a DOI: of one that is shortened or a template, or that holds what few DOIs do. */
const GOES_ON =
  /^(?:[@$…{%]|\^(?!\{?\d)|\\[^nrt]|[<(]\d|\[\d+:|&\w+(?![\w=])|(?!https?:)\p{Script=Latin}|[\u2012\u2013\u2212](?!10\.\d{4})\w|[!~*]\w|;\d-)/u;
/** Which page of an article, or of its supplement, an address asks for. */
const PAGE =
  /(?:\/(?:full|fulltext|abstract|e?pdf|meta|html?|suppl|(?:suppl|-)\/DC\w+)|\.(?:full(?:-text)?|abstract|supplementary-material|article-(?:info|metrics))(?:\.pdf(?:\+html)?)?)+$/i;
/** What follows a DOI in a reference, without a space. */
const NEXT_WORD = /(?:\.?(?:PMC?ID|PubMed|Epub|Cross[Rr]ef|Medline|Google))+$/;
/** No suffix, one that goes on in the next line, or a file's name. */
const NO_NAME = /^$|-$|\.(?:[Pp][Dd][Ff]|html?|xml|json|txt|csv)$/;
/** Perhaps the first word of the next sentence, unless a bracket or a quote follows. */
const NEXT_SENTENCE = /\d\.[A-Z][a-z]+$/;
const PUNCTUATION = /[.,:;!?_~(/]+$/;

/** The DOIs in a text, and where they stand. What may be a quotient counts only after the word "doi". */
export function doisIn(text: string, most: number): { at: number; id: string }[] {
  const dois: { at: number; id: string }[] = [];
  for (const { index: at } of text.matchAll(START)) {
    if (dois.length >= most) break;
    const isCalledDoi = /doi(?:s?\W{0,6}|\.org\/)$/i.test(text.slice(Math.max(0, at - 12), at));
    for (const id of doisAt(text, at)) if (isCalledDoi || !isDoubtful(id)) dois.push({ at, id });
  }
  return dois;
}

/** The DOI that begins at a place, and others that only a slash separates from it. */
export function doisAt(text: string, at: number): string[] {
  const run = /^\S{0,300}/.exec(text.slice(at, at + 300))?.[0] ?? '';
  const dois: string[] = [];
  for (let left = decodedAscii(marked(run.replace(/\\([!-/:-@[-`{-~])/g, '$1'))); PREFIX.test(left); ) {
    const { id, rest } = firstDoi(left);
    if (id !== undefined) dois.push(id);
    left = rest.replace(/^[-/:=+]/, '');
  }
  return dois;
}

/** Escaped characters that would end a DOI in prose (`%2C`), as private ones: somebody who escaped them meant them. */
function marked(text: string): string {
  return text.replace(/%(2[13467ac]|3[bf]|40|5e|7[ce])/gi, (_, code: string) =>
    String.fromCharCode(0xe000 + Number.parseInt(code, 16)),
  );
}

function unmarked(text: string): string {
  return text.replace(/[\ue021-\ue07e]/g, (one) => String.fromCharCode(one.charCodeAt(0) - 0xe000));
}

/** A text with its escaped ASCII characters (`%2E`) as themselves. */
export function decodedAscii(text: string): string {
  return text.replace(/%([2-7][\da-f])/gi, (_, code: string) =>
    String.fromCharCode(Number.parseInt(code, 16)),
  );
}

/** The DOI with which a run of characters begins, undefined if it is no whole one, and what follows it. */
function firstDoi(run: string): { id?: string; rest: string } {
  const prefix = PREFIX.exec(run)?.[0] ?? '';
  const suffix = run.slice(prefix.length);
  const sici = SICI.exec(unmarked(suffix))?.[0];
  if (sici !== undefined) return { id: prefix + sici, rest: suffix.slice(sici.length) };
  const plain = balanced(PLAIN.exec(suffix)?.[0] ?? '');
  const rest = suffix.slice(plain.length);
  const named = plain.replace(PUNCTUATION, '').replace(PAGE, '').replace(PUNCTUATION, '');
  const name = unmarked(named.replace(NEXT_WORD, ''));
  const isUnsure = NEXT_SENTENCE.test(name) && !/^[)>\]}"'`]/.test(rest);
  if (isUnsure || NO_NAME.test(name) || plain.endsWith('...') || GOES_ON.test(rest)) return { rest };
  // bioRxiv, medRxiv and arXiv number the versions in addresses, while the DOI is that of all.
  const id = (prefix + name).replace(/^(10\.(?:(?:1101|64898)\/[\d.]{6,}|48550\/arxiv\..+))v\d+$/i, '$1');
  return { id, rest };
}

/** A text up to a bracket that it does not open, or does not close. */
export function balanced(text: string): string {
  const open: number[] = [];
  for (let at = 0; at < text.length; at += 1) {
    if (text[at] === '(') open.push(at);
    if (text[at] === ')' && open.pop() === undefined) return text.slice(0, at);
  }
  return text.slice(0, open[0]);
}

/** Whether a DOI may be a number and what it is divided by. */
function isDoubtful(id: string): boolean {
  const suffix = id.replace(PREFIX, '');
  if (suffix.length < 6 || !/\d|[A-Z]{4}|\.[a-z]+\.[a-z]/.test(suffix)) return true;
  return /^\d{0,5}(?:\.\d{1,5})?(?:e[+-]?\d+)?(?:[a-z]{1,3}\d?)?$/i.test(suffix);
}

/** What is the same for all versions of a work, whatever page of it an address opens: its DOI; undefined if it names none. */
export function workOf(path: string): string | undefined {
  const [, archive = '', arxiv] =
    /^arxiv\.org\/(?:abs|pdf|html)\/([a-z-]+(?:\.[A-Z]{2})?\/)?(.+?)(?:v\d+)?(?:\.pdf)?$/.exec(path) ?? [];
  if (arxiv !== undefined) return `10.48550/arxiv.${archive.replace(/\.[A-Z]{2}/, '')}${arxiv}`;
  const early = /^(?:bio|med)rxiv\.org\/.+\/early\/[\d/]{10}\/([\d.]*\d)/.exec(path)?.[1];
  if (early !== undefined) return `10.1101/${early}`;
  const nature = /^nature\.com\/articles\/([ds]\d{5}-\d{3}-\d{4,5}-[\da-z])(?![\w-])/.exec(path)?.[1];
  if (nature !== undefined) return `10.1038/${nature}`;
  const at = /\/10\.[1-9]\d{3,8}(?:\.\d+)*(?:\/|%2f)/i.exec(path)?.index;
  const doi = at === undefined ? undefined : doisAt(path.replace(/\.pdf$/i, ''), at + 1)[0];
  return doi?.replace(/(?:[./_-]|(?<=\d))v\d{1,2}$/i, '');
}
