/** An entry of the answer's own list of references, where it stands (characters), and its number. */
export interface ReferenceEntry {
  from: number;
  to: number;
  number: number;
}

/** The word over a list of references, alone on its line, in languages in which agents answer. */
const HEADING_WORDS = [
  'references?( list)?|reference list|bibliography|literature( cited)?|works cited|citations?|sources?',
  'quellen(verzeichnis)?|literatur(verzeichnis|angaben)?|referenzen|einzelnachweise|belege',
  'références?( bibliographiques)?|bibliographie|referencias( bibliográficas)?|bibliografía|fuentes|referências( bibliográficas)?',
  'bibliografia|fontes|riferimenti( bibliografici)?|fonti|literatuur(lijst)?|referenties|bronnen|referenser|källor|referanser|kilder',
  'litteratur(liste)?|referencer|lähteet|viitteet|kirjallisuus|piśmiennictwo|źródła|zdroje|literatura|reference|irodalom|források',
  'hivatkozások|bibliografie|referințe|surse|kaynaklar|kaynakça|daftar pustaka|referensi|tài liệu tham khảo',
  'βιβλιογραφία|αναφορές|πηγές|литература|список литературы|источники|ссылки|література|джерела|посилання',
  '参考文献|参考资料|參考文獻|參考資料|引用文献|文献|出典|来源|參考|参考|참고\\s?문헌|참고\\s?자료|출처|المراجع|المصادر|מקורות|ביבליוגרפיה|संदर्भ|เอกสารอ้างอิง|อ้างอิง',
];
const HEADING = new RegExp(
  `^[ \\t>]{0,8}(?:#{1,6}[ \\t]+)?(?:\\d{1,2}[.)]?[ \\t]+)?[*_]{0,3}(?:${HEADING_WORDS.join('|')})[*_]{0,3}[ \\t]*[:：]?[*_]{0,3}[ \\t]*#{0,6}$`,
  'iu',
);
const OTHER_HEADING = /^ {0,3}#{1,6}[ \t]/;
/** `[1] …`, `[^1]: …`, `**[1]** …`, `- [1] …`, and `1. …`, which begins the entries of any list. */
const ENTRY = /^[ \t>]{0,8}(?:[-*+][ \t]+)?[*_]{0,3}(?:\\?\[\^?(\d{1,3})\\?\](?!\()|(\d{1,3})[.)](?=[ \t]))/;
/** `[2]`, `[2, 3]`, `[2–5]` */
const CITATION = /\[\^?(\d[\d,;–\- ]{0,40})\]/g;

/**
 * The entries of the references that an answer numbers itself: below a heading that says so, or with numbers in brackets,
 * or with those that its text cites in brackets.
 */
export function numberedReferences(text: string): ReferenceEntry[] {
  const entries: (ReferenceEntry & { isCertain: boolean })[] = [];
  let open: (typeof entries)[number] | undefined;
  let isBelowHeading = false;
  let at = 0;
  for (const line of text.split('\n')) {
    const [, bracketed, plain] = ENTRY.exec(line) ?? [];
    const number = bracketed ?? plain;
    if (HEADING.test(line)) isBelowHeading = true;
    else if (OTHER_HEADING.test(line)) isBelowHeading = false;
    if (number !== undefined) {
      const isCertain = bracketed !== undefined || isBelowHeading;
      open = { from: at, to: at + line.length, number: Number(number), isCertain };
      entries.push(open);
    } else if (line.trim() === '' || OTHER_HEADING.test(line) || HEADING.test(line)) open = undefined;
    else if (open !== undefined) open.to = at + line.length;
    at += line.length + 1;
  }
  if (entries.length < 2) return [];
  const cited = [...text.matchAll(CITATION)].flatMap(([, numbers = '']) => numbers.match(/\d{1,3}/g) ?? []);
  const last = Math.max(0, ...cited.map(Number));
  return entries.filter(({ isCertain, number }) => isCertain || number <= last);
}
