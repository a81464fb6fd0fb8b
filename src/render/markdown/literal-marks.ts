import { markdownLineEnding } from 'micromark-util-character';
import type { Construct, Extension, State, Tokenizer } from 'micromark-util-types';

/*
 * What people at benches write holds Markdown's marks: alleles (HLA-B*57:01), molecules (C[C@@H](N)C), ranges (5~10 mg),
 * file patterns (*_R1_*.fastq.gz), headers of sequences (>sp|P04637|). Here stands which marks are such text.
 */
const WORD = '[\\p{Script=Latin}\\p{Script=Greek}\\p{N}]';
const PATH = '[\\w*./?-]{0,80}';
/** Characters after a mark that decide about it. */
const LOOK_AHEAD = 100;
/** Longer runs of one mark are no emphasis; the parser would nest one for each two marks. */
const LONG_RUN = 13;
const WEB_SCHEME = '(?:[Hh][Tt][Tt][Pp][Ss]?|[Mm][Aa][Ii][Ll][Tt][Oo]):';
/** A quotation has a space after its first mark; the header of a sequence (FASTA) and "more than" have none. */
const SEQUENCE_HEADER =
  '>(?=[\\p{L}\\p{N}=])(?<=^(?:[ \\t]*> )*[ \\t]{0,3}>)(?:(?==)|(?<!^[ \\t]{0,3}>(?: [^\\n]*)?\\n(?:[ \\t]{0,3}>[^\\n]*\\n){0,20}[ \\t]{0,3}>))';
/** "More than" at the beginning of an item, where nobody quotes a number. */
const MORE_THAN = '(?=>)(?<=^[ \\t]*(?:[-+*]|\\d{1,3}[.)]) {1,3})>(?= ?[=\\d])';
/** The first line of what stars mean below a table; another reader takes it for a list. */
const VALUE = '[ \\t]?(?:[=:] ?|(?:denotes|indicates|means) )?(?:[PpQq](?:[- ]values?|_?adj)?|FDR) ?[<≤]';
const SIGNIFICANCE = `(?<=^[ \\t]{0,3})\\*(?=${VALUE}[^]{0,60}?[^*]\\s\\*\\*${VALUE})`;
/** The same where it says what one star means, in a paragraph of its own beside no item. */
const ONE_STAR = `\\*(?=${VALUE}[^\\n]{0,200}(?:\\n[ \\t]{0,9}\\n(?!\\s{0,9}\\* )|\\n?(?![^])))(?<=(?<!^[ \\t]{0,9}[-*+] [^\\n]{0,300})(?:(?<![^])|\\n[ \\t]{0,9}\\n|\\|[ \\t]{0,9}\\n)[ \\t]{0,3}\\*)`;
/** A further item, deeper than the one that the sign stands in. */
const NEXT_ITEM = '(?:[^\\n]*\\n(?=\\k<indent>[ \\t]{2}|[ \\t]*\\n)){1,20}?\\k<indent>[ \\t]{2,9}\\k<sign> ';
/** The sign at the beginning of an item, such as that of a strand, a charge or a change, where it begins no list of items. */
const ITEM_SIGN = `[-+*](?= {1,3}[^\\s*+-])(?<=^(?<indent>[ \\t]{0,40})(?:[-+*]|\\d{1,3}[.)]) {1,3}(?<sign>[-+*]))(?!${NEXT_ITEM})`;
/** What begins no block, where Markdown has one. */
const BLOCK_MARK = `${SEQUENCE_HEADER}|${MORE_THAN}|${SIGNIFICANCE}|${ONE_STAR}`;
/** What bold text holds where stars begin alleles: no other marks than stars within words. */
const BOLD_ALLELES = '(?:[^*|\\n]|\\*(?=\\d)|(?<=\\w)\\*(?=[A-Z_a-z]))';
/** What bold text holds where stars end words: no other marks than stars within words. */
const BOLD = `(?:[^*|\\n]|(?<=${WORD})\\*(?=[\\s,;:.)(/-]|\\w))`;
/** Italics within a word: *N*6, 2*S*, 1*H*-indole, Δ*lacZ*, Tn*10*, Man*p*-, p*K*a. */
const ITALIC =
  '\\d\\*[RSEZHrsa-f]\\*[-,)\\]–]|(?<=\\d)[a-h]\\*[RSEZHrs]\\*[-,)\\]–]|[Δ∆]\\*[A-Za-z]{1,5}\\d*[A-Z]?\\*(?!\\w)|(?:(?<=T)n|(?<=I)S)\\*\\d{1,4}\\*(?!\\w)|(?<=[A-Za-z]{2})[a-z]\\*[pf]\\*[-(]|(?<![\\w*])p\\*K\\*';
/** The end of italics before a letter or a digit: *K*d, *K*D, *O*6-methyl, *MAT*a, *his3*Δ1, p*K*a. */
const ITALIC_END =
  '(?<![^\\s(,/])\\*(?:[A-Za-z]\\*(?=[a-z])|[FKV]\\*(?=[A-Z]{1,2}\\b)|[NOS]\\*(?=\\d(?!\\d))|MAT\\*(?=[aα])|[a-z]{3}[A-Z\\d]{0,3}\\*(?=[Δ∆]))|(?<![\\w*])p\\*K\\*';
/** The end of what stands for a part of a name: {sample}_{lane}.bam, <sample>_R1.fq, [id]_1. */
const PLACEHOLDER_END = '[}\\]]|<(?!br>|su[bp]>)[A-Za-z][\\w .-]{0,40}>';
/** A character of one paragraph, but no star. */
const IN_PARAGRAPH = '(?:[^*\\n]|\\n(?![ \\t>]{0,9}(?:[\\n|]|[-+#] |\\d{1,3}[.)] )))';
const LITERAL = `(?:${ITEM_SIGN}|(?=[*_~\\]<>\\\\])(?:${[
  // Between letters or digits, but not in *K*d; scripts that join a word to an emphasized one are others.
  `(?<=${WORD})(?<!(?=${ITALIC}).)\\*+(?![¹²³\\u2070-\\u209c])(?=${WORD})(?<!${ITALIC_END})`,
  // Signs of significance, ends of molecules and unknown alleles: (*), (*, p), '***', [*:1], w[*]. Products: (1-p)*(1-q).
  '(?<=[([])\\*{1,4}(?=[),;:\\]])|(?<=["‘“])\\*{1,4}(?=["’”])|(?<=\')\\*{1,4}(?=\')|(?<=%)\\*(?=%)',
  '(?<=[)\\]])(?<!(?<![\\w)\\]*])\\*{1,3}[^\\s*][^*\\n]{0,80})\\*(?![*]|[A-Za-z ]{1,40}\\*(?![\\w([]))(?=[(\\p{L}\\p{N}[?+\\\\-])',
  // The same behind a bracket or a unit, and "any" at the end of a name: 45%*, MT-*, data/*; not where they end italics.
  `(?<=[)\\]%°+/-]|[.:](?!\\*\\*))(?<!(?<![\\w)\\]*]|[%°+/.:-](?=\\*["'”’]))(?:\\*{1,3}(?:\\.\\.|[^\\s*,;:.)/|])${IN_PARAGRAPH}{0,400}|(?:\\*\\*)?\\*(?:\\.\\.|[^\\s*,;:.)/|])(?:${IN_PARAGRAPH}|(?<!\\*)\\*\\*(?!\\*)){0,400}))\\*{1,3}(?=[,;:.)/|"'”’，。；：、）])`,
  // The only star of its word, between two stars that make it bold: **the π* state**.
  `(?<=(?<![\\w*])\\*\\*(?=[^\\s*])${BOLD}{0,90}${WORD})\\*(?=[\\s,;:.)(/-]${BOLD}{0,90}\\*\\*)`,
  // Longer runs of stars, and blanks to fill in: ____, __/__/____, (___/10).
  `\\*{${LONG_RUN},}|_{4,}|(?<=^|[\\s(\\[$<=~]|_[/:.-])_{2,3}(?=[/:.-]_|/\\d|[%,;:.)\\]°](?!\\w))`,
  // The end of L*a*b* (colours), and of patterns: ^[ACGT]*$.
  '(?<=(?<!\\w)L\\*[a-z]\\*[a-z])\\*(?!\\*)|(?<=[\\w)\\].+])\\*(?=\\$(?![\\w\\\\{^]))',
  // A single tilde is "about" or "to".
  '(?<!~)~(?!~)',
  // Positions after a stop codon and such codons (HGVS): c.*32, p.Arg213*.
  '(?<=\\w\\.)\\*(?=[\\w?$])|(?<=\\bp\\.\\(?[A-Za-z]{1,3}\\d{1,6})\\*(?!\\*)|(?<=[[;(][A-Z][a-z]{2}\\d{1,6})\\*(?=[\\]);])',
  // Star alleles, whose stars the end of bold text would take: **(*1/*17)**, **TPMT*3A/*3C**.
  '(?<![\\w*])\\*(?=\\d{1,3}(?:[A-Za-z]{0,2}|x[\\dN])(?:,(?!\\d)|[;)/+\\]]|:\\d|\\*\\*(?!\\*)| (?:and|or|alleles?|carriers?)\\b))',
  `(?<=(?<![\\w*])\\*\\*(?=\\*?[^\\s*])${BOLD_ALLELES}{0,80}[\\s(/+_])\\*(?=\\d{1,3}\\w{0,4}(?!\\w)${BOLD_ALLELES}{0,80}(?:\\*\\*(?!\\*)|(?![^])))`,
  '(?<=/)\\*(?=\\d+\\w*(?!\\w|\\*(?!\\*)))|(?<=(?<![\\w*])\\*[A-Z][\\w-]{1,12}\\*\\d{1,3}[A-Za-z]{0,2}/)\\*(?=\\d)',
  // Backslashes of molecules, of paths and of patterns, where Markdown has an escape: C=C\\[C@@H], C:\\a\\(b), \\\\nas1\\raw.
  '(?<=[A-Za-z\\d)\\]])\\\\(?=\\[\\d*(?:[A-Z][a-z]?|[bcnops])@{0,2}H?\\d?[+-]*\\d?(?::\\d+)?\\](?!\\(https?:))|(?<=[*+?\\]}(]|\\\\\\.\\w{1,9})\\\\(?=\\.[\\w\\\\])',
  '(?<=(?<!\\w)[A-Za-z]:(?=\\\\[^\\\\])[^\\s`|]{0,200})(?<!\\\\)\\\\(?=[!#$%&(+.@[{~-]|\\*\\.\\w)',
  '(?<![^\\s(["\'=*|])\\\\(?=\\\\[\\w.$-]+\\\\[\\w.$])|(?<=(?<![^\\s(["\'=*|])\\\\)\\\\(?=[\\w.$-]+\\\\[\\w.$])',
  // File patterns, and Python's own names.
  '(?<!\\*)\\*(?=\\.(?!(?<![./|,-]\\*\\.)\\d+(?![\\w.]))[^\\W_])|(?<![^\\s/("\'=])\\*+(?=/)(?<!\\*\\*(?=/[^\\s*]{1,300}[\\w)]\\*\\*(?![\\w*/]|\\.\\w)))|(?<=\\w)(?<!(?<!\\w)\\*_[A-Za-z -]{1,60}|(?<=^|[\\s(]|(?<!\\w)\\*\\*)_[A-Z][A-Z\\d-]{1,9}(?=_\\*\\d))_\\*(?!\\*)_?|(?<=\\.)\\*(?:_|(?=\\\\))|\\*(?=[_.]\\{)',
  '(?<![^\\s("\'=/])\\*(?!_[^*_\\n]{1,80}_[^*\\n]{0,80}\\*(?![\\w.]))(?=_\\w[\\w*.?-]*(?![^\\s,;)]))',
  `(?<=(?<![^\\s("'=:])${PATH})(?!(?<![^\\s("'=:])\\*\\*\\w)[*_]{1,3}(?=${PATH}\\*\\.(?!\\d+(?![\\w.]))[^\\W_])`,
  '(?<=["\'])\\*(?=_[\\w.?*-]{1,60}["\'])|(?<=["\'][\\w.?*-]{1,60}_)\\*(?=["\'])|(?<=\\(\\?<?[=!])_(?=\\))',
  '(?<=\\$\\{[^\\s{}]{1,40})[*_]+(?=[^\\s{}]{0,40}\\})|(?<=/)_(?=/)|(?<=\\(\\.)\\*(?=\\))|(?<=<)\\*(?=>)',
  // A range between uncertain positions (HGVS), and names with placeholders.
  `(?<=\\))_(?=[(\\d?*])|(?<=\\?)_(?=[\\d*-])|(?<=[+*])_(?=[\\d*\${])|(?<=\\+|${PLACEHOLDER_END})_{1,2}(?=[\\w*$[({\\\\]|<(?!br>|su[bp]>))|(?<=[}+*\\]])_(?=\\.\\*)|(?<=["']%)_(?=\\w)|(?<=\\w)_(?=%["'])|(?<=_\\()\\*(?=\\d)`,
  '__(?=[a-z][a-z\\d_]{0,80}__(?!\\w))|__(?!\\w)(?<=(?<!\\w)__[a-z][a-z\\d_]{0,80}__)',
  // The end of a label without an address that a link may open, and an address of another kind in angle brackets.
  `\\](?=\\((?!\\s*<?${WEB_SCHEME}))`,
  `<(?=[A-Za-z][A-Za-z\\d+.-]{1,31}:)(?!${WEB_SCHEME})`,
  BLOCK_MARK,
].join('|')}))`;
const LITERAL_HERE = new RegExp(LITERAL, 'muy');
const LITERAL_OR_ESCAPE = new RegExp(`${LITERAL}|\\\\[^]`, 'gmu');
/** The marks of all such lines in a text. */
export const BLOCK_MARKS = new RegExp(`${BLOCK_MARK}|${ITEM_SIGN}`, 'gmu');

/** How many characters at `at` in text are marks that stand for themselves. */
function literalLength(text: string, at: number): number {
  LITERAL_HERE.lastIndex = at;
  return LITERAL_HERE.exec(text)?.[0].length ?? 0;
}

/** The marks in a range of text, without code and links, that another reader of Markdown would take for its own. */
export function literalMarks(text: string, from: number, to: number): number[] {
  const marks: number[] = [];
  // Not searched beyond what decides about its last mark: a table has very many ranges.
  const within = text.slice(0, to + LOOK_AHEAD);
  LITERAL_OR_ESCAPE.lastIndex = from;
  for (let found = LITERAL_OR_ESCAPE.exec(within); found !== null; found = LITERAL_OR_ESCAPE.exec(within)) {
    const { 0: literal, index } = found;
    if (index >= to) break;
    const isAlone = literal === '~' && /^\s?~\s?$/.test(text.slice(Math.max(0, index - 1), index + 2));
    if (/^\\./s.test(literal) || isAlone) continue;
    for (let at = index; at < index + literal.length; at += 1) marks.push(at);
  }
  return marks;
}

const EMOJI = /(?<=[\p{L}\p{N}\])]):(?=(?:100|1234|ab?|[bmvx]|o2?):[\p{L}\p{N}[(-])/gu;

/** Where data in a range of text would read as the name of an emoji, such as chr1:100:A:T and 1,4,[5],12:b:1,2. */
export function emojiNames(text: string, from: number, to: number): number[] {
  return Array.from(text.slice(from, to).matchAll(EMOJI), ({ index }) => from + index + 1);
}

const NUMBER_MARK = /(?<!\S)\d{1,9}[.)]\s?$/;

/**
 * How many characters those marks before `index`, those of numbered items and names may need, by what stands up to there;
 * never too low.
 */
export function literalCost(text: string, index: number): number {
  const mark = text.charAt(index - 1);
  const next = text.charAt(index);
  if (mark === ':') return /[1abmovx]/.test(next) ? 1 : 0;
  if (mark === ']') return next === '(' ? 2 : 0;
  if (mark === '<') return /[a-z]/i.test(next) ? 1 : 0;
  if (mark === '>') return /[\p{L}\p{N}=]/u.test(next) ? 1 : 0;
  if (mark === ' ') return /\d/.test(next) && text.charAt(index - 2) === '>' ? 1 : 0;
  if (/[-+]/.test(mark))
    return next === ' ' && /[-+*.)] {1,3}$/.test(text.slice(Math.max(0, index - 5), index - 1)) ? 1 : 0;
  if (/[.)]/.test(mark)) return NUMBER_MARK.test(text.slice(Math.max(0, index - 11), index + 1)) ? 1 : 0;
  if (mark === '\\') return /[!-/:-@[-`{-~\w]/.test(next) ? 1 : 0;
  if (!/[*_~]/.test(mark)) return 0;
  const run = /(?:\*+|_+|~+)$/.exec(text.slice(Math.max(0, index - 2 * LONG_RUN), index))?.[0] ?? '';
  // A longer run is counted mark by mark.
  if (next === mark) return run.length === 2 * LONG_RUN ? 1 : 0;
  const around = text.charAt(index - run.length - 1) + next;
  const isBold = run === '**' && /^(?:\s\p{L}|[\p{L}\p{N}:.][\s,;:])$/u.test(around);
  return isBold || (mark === '~' && run.length > 1) ? 0 : run.length;
}

/** A text without the backslashes before such marks, for a place that shows backslashes. Code has none. */
export function withoutEscapes(markdown: string): string {
  return markdown.replace(/(`+)[\s\S]*?\1|\\([*_~<>\\[]|\](?=\()|[-+.)](?= ))/g, (all, code, mark = '') =>
    code === undefined ? mark : all,
  );
}

type Context = ThisParameterType<Tokenizer>;

/** Reads as many characters as `lengthAt` says as text, or like code in a line; for 0 the next construct decides. */
export function spanConstruct(
  name: string,
  lengthAt: (context: Context, offset: number) => number,
  isCode = false,
): Construct {
  const piece = isCode ? 'codeTextData' : 'data';
  const tokenize: Tokenizer = function (effects, ok, nok) {
    const { offset } = this.now();
    const end = offset + lengthAt(this, offset);
    const between: State = (code) => {
      if (this.now().offset >= end) {
        if (isCode) effects.exit('codeText');
        return ok(code);
      }
      if (code === null) return nok(code);
      effects.enter(markdownLineEnding(code) ? 'lineEnding' : piece);
      effects.consume(code);
      if (!markdownLineEnding(code)) return rest;
      effects.exit('lineEnding');
      return between;
    };
    const rest: State = (code) => {
      if (code === null || markdownLineEnding(code) || this.now().offset >= end) {
        effects.exit(piece);
        return between(code);
      }
      effects.consume(code);
      return rest;
    };
    return (code) => {
      if (end === offset) return nok(code);
      if (isCode) effects.enter('codeText');
      return between(code);
    };
  };
  return { name, tokenize };
}

/** A run between letters may end what a run of the same length began, as in **SNP**s. */
function endsEmphasis({ events }: Context, length: number): boolean {
  let isOpen = false;
  for (const [kind, token, context] of events) {
    if (kind !== 'exit' || token.type !== 'attentionSequence') continue;
    const isSame = token.end.offset - token.start.offset === length && length > 1 && length < LONG_RUN;
    if (isSame && context.sliceSerialize(token).startsWith('*')) isOpen = token._open === true && !isOpen;
  }
  return isOpen;
}

/** The label that ends here begins no link either. */
function forgetLabel({ _labelStarts: starts = [] }: Context): void {
  const start = starts.findLast(({ _balanced }) => _balanced !== true);
  if (start !== undefined) start._balanced = true;
}

/** Most runs of marks that are paired in one paragraph, cell or heading: for each the parser walks through all before it. */
const MAX_RUNS = 400;

/** Reads the marks of this text that are no Markdown, and those beyond the first 400 of a paragraph, as text. */
export function literalSyntax(text: string): Extension {
  /** Runs so far, by paragraph. */
  const counts = new WeakMap<Context, number>();
  const run = spanConstruct('literalRun', (context, offset) => {
    const count = (counts.get(context) ?? 0) + 1;
    counts.set(context, count);
    if (count > MAX_RUNS) return /^(.)\1*/.exec(text.slice(offset))?.[0].length ?? 1;
    const length = literalLength(text, offset);
    const whole = length === 0 ? undefined : /^\*+/.exec(text.slice(offset))?.[0];
    return whole !== undefined && endsEmphasis(context, whole.length) ? 0 : length;
  });
  const label = spanConstruct('literalLabel', (context, offset) => {
    const length = literalLength(text, offset);
    if (length > 0) forgetLabel(context);
    return length;
  });
  const mark = spanConstruct('literalMark', (_, offset) => literalLength(text, offset));
  return { text: { 42: run, 95: run, 126: run, 60: mark, 92: mark, 93: label } };
}
