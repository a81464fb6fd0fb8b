#!/usr/bin/env bash
# In a journal's feed, an article by Smith and Lee is by Smith, or by nobody.
# rss-parser keeps the first of several authors, in RSS and in Atom; feedparser keeps none of those of an Atom feed. A title with a tag in
# it is an object or empty, and the text loses what stands between < and >. feedsmith keeps them. Guess: both authors, the title's words.
set -euo pipefail
folder="$(mktemp -d)"
trap 'rm -rf "$folder"' EXIT
cd "$folder"
npm install --silent --no-audit --no-fund --prefix . rss-parser@3.13.0 feedparser@2.6.0 @extractus/feed-extractor@8.0.3 feedsmith@3.0.1

cat >try.mjs <<'JS'
import { extractFromXml } from '@extractus/feed-extractor';
import FeedParser from 'feedparser';
import { parseFeed } from 'feedsmith';
import RssParser from 'rss-parser';
const rss = '<rss version="2.0" xmlns:dc="http://purl.org/dc/elements/1.1/"><channel><title>A</title><link>https://example.org</link><description>B</description><item><title>One</title><link>https://example.org/1</link><dc:creator>Smith J</dc:creator><dc:creator>Lee A</dc:creator><description>p &lt; 0.05 and q &gt; 0.1</description></item></channel></rss>';
const title = '<title type="xhtml"><div xmlns="http://www.w3.org/1999/xhtml">Role of <i>Foxp3</i></div></title>';
const atom = `<feed xmlns="http://www.w3.org/2005/Atom"><title>A</title><id>a</id><updated>2026-12-01T00:00:00Z</updated><entry><id>1</id>${title}<updated>2026-12-01T00:00:00Z</updated><author><name>Smith J</name></author><author><name>Lee A</name></author><link href="https://example.org/1"/></entry></feed>`;
for (const [name, text] of [['rss', rss], ['atom', atom]]) {
  const [first] = (await new RssParser().parseString(text)).items;
  console.log(name, 'rss-parser:', first.creator ?? first.author, '|', typeof first.title, '|', first.contentSnippet);
  const item = await new Promise((resolve) => {
    const parser = new FeedParser();
    parser.on('readable', () => resolve(parser.read())).end(text);
  });
  console.log(name, 'feedparser:', item.author, '|', item.title);
  const [entry] = extractFromXml(text).entries;
  console.log(name, 'feed-extractor:', JSON.stringify(entry.title), '|', entry.description);
  const { feed } = parseFeed(text);
  console.log(name, 'feedsmith:', (feed.items?.[0].dc.creators ?? feed.entries[0].authors.map((author) => author.name)).join(', '));
}
JS

expected="$(cat <<'SEEN'
rss rss-parser: Smith J | string | p  0.1
rss feedparser: Smith J | One
rss feed-extractor: "One" | p  0.1
rss feedsmith: Smith J, Lee A
atom rss-parser: Smith J | object | undefined
atom feedparser: null | Role of Foxp3
atom feed-extractor: "" | 
atom feedsmith: Smith J, Lee A
SEEN
)"
seen="$(node try.mjs)"
printf '%s\n%s\n' "rss-parser@3.13.0, feedparser@2.6.0, @extractus/feed-extractor@8.0.3, feedsmith@3.0.1, Node $(node --version)" "$seen"
[ "$seen" = "$expected" ] || { printf 'This has changed. It was:\n%s\n' "$expected"; exit 1; }
