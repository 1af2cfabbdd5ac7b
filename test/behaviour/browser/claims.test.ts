import Sqlite from 'better-sqlite3';
import { describe, expect, it } from 'vitest';
import { useBrowser } from '../../support/browser/browser.ts';
import { evaluateFormula } from '../../support/browser/evaluate-formula.ts';
import { readClaims } from '../../support/browser/page-claims.ts';
import { whyWrongText } from '../../support/browser/visible-number.ts';
import { wrongClaims } from '../../support/browser/wrong-claims.ts';
import { tempFile } from '../../support/suite/temp-dir.ts';

/** A page that is right about the table of {@link warehouse}. */
const RIGHT = `<main><h1>1 to 19 October 2026</h1>
<p class="sentence"><data value="3000000" data-formula="sum(q1[0].value,q1[1].value)">3.00\u202fM</data> credits,
<data value="-0.5" data-formula="change(q1[0].value,q1[1].value)">50.0\u202f%</data> less, on
<data value="2" data-formula="days(q1,expected)">2</data> days until 2 October.</p>
<section><h2>Teams</h2><table><thead><tr><th>Team</th><th>Credits, M</th></tr></thead>
<tr><th><bdi>team 51</bdi></th><td><data value="1000000" data-formula="q1[0].value">1.0</data></td></tr>
<tr><th>none</th><td><span class="none" data-formula="q1[2].value" title="no value is stored">–</span></td></tr></table></section>
<details><code data-query="q1" data-from="2026-10-01" data-until="2026-10-02" data-expected="2" data-settled="1"
data-unsettled="2026-10-02" data-missing="">SELECT value FROM facts ORDER BY id</code></details></main>`;

function warehouse(): string {
  const path = tempFile();
  const db = new Sqlite(path);
  db.exec('CREATE TABLE facts (id INTEGER, value REAL)');
  db.exec('INSERT INTO facts VALUES (1, 1000000), (2, 2000000), (3, NULL)');
  db.close();
  return path;
}

describe('what a page claims', () => {
  const browser = useBrowser();

  /** What is wrong with a page, read in the browser. */
  async function wrongIn(html: string, path = warehouse()): Promise<string[]> {
    const { page } = await browser.open();
    await page.setContent(html);
    return wrongClaims(await readClaims(page), path);
  }

  it('is right where every number, text and date follows from the queries', async () => {
    expect(await wrongIn(RIGHT)).toEqual([]);
  });

  it('is wrong after a value changed in the database', async () => {
    const path = warehouse();
    const db = new Sqlite(path);
    db.exec('UPDATE facts SET value = 1000001 WHERE id = 1; UPDATE facts SET value = 5 WHERE id = 3');
    db.close();
    const wrong = await wrongIn(RIGHT, path);
    expect(wrong).toHaveLength(4);
    expect(wrong.join('\n')).toContain(
      'sum(q1[0].value,q1[1].value) is 3000001, and the page states 3000000',
    );
    expect(wrong.join('\n')).toContain('q1[2].value is 5, and the page shows a dash');
  });

  it.each([
    ['a rounded text', '3.00\u202fM', '3.01\u202fM', 'does not show 3000000'],
    ['a direction', 'less, on', 'more, on', 'does not show -0.5'],
    ['a unit', 'Credits, M', 'Credits', 'does not show 1000000'],
    ['a plain minus', '50.0\u202f%', '-50.0\u202f%', 'cannot be read as a number'],
    ['a number without a formula', 'credits,', 'credits of 12 people,', 'holds a number without a formula'],
    ['a query that is not shown', 'data-query="q1"', 'data-query="q2"', 'does not show the query q1'],
    ['days that do not add up', 'data-settled="1"', 'data-settled="2"', '2 settled, 1 open'],
    ['a row that is not there', 'q1[0].value">', 'q1[9].value">', 'q1 has no row 9'],
    ['a dash without a reason', 'no value is stored', ' ', 'a dash gives no reason'],
    ['another formula', 'change(', 'difference(', 'and the page states -0.5'],
  ])('is wrong about %s', async (_what, right, planted, expected) => {
    const wrong = await wrongIn(RIGHT.replace(right, planted));
    expect(wrong.join('\n')).toContain(expected);
  });
});

describe('a formula', () => {
  const rows = [{ value: 4 }, { value: null }, { value: 8, other: 'text' }];
  const days = {
    ...{ from: '2026-10-01', until: '2026-10-03', expected: 3, settled: 1 },
    ...{ unsettled: ['2026-10-02'], missing: ['2026-10-03'] },
  };
  const answers = new Map([['q1', { rows, days }]]);

  it.each([
    ['sum(q1[0].value,q1[1].value,q1[2].value)', 12],
    ['mean(q1[0].value,q1[1].value,q1[2].value)', 6],
    ['sum(q1[1].value)', null],
    ['sum()', null],
    ['max(q1[0].value,min(q1[2].value))', 8],
    ['share(q1[0].value,sum(q1[0].value,q1[2].value))', 1 / 3],
    ['change(q1[0].value,q1[1].value)', null],
    ['difference(q1[0].value,rows(q1))', 1],
    ['days(q1,missing)', 1],
    ['share(q1[0].value,difference(q1[0].value,q1[0].value))', null],
  ])('%s has a value', (text, value) => {
    expect(evaluateFormula(text, answers)).toBe(value);
  });

  it.each([
    'q1[2].other',
    'q1[2].value)',
    'median(q1[0].value)',
    'q2[0].value',
    'q1[0].missing',
    'change(q1[0].value)',
  ])('%s is refused', (text) => {
    expect(() => evaluateFormula(text, answers)).toThrow();
  });
});

describe('the text of a number', () => {
  const shown = (text: string) => ({ value: '', formula: '', text, after: '', units: [], place: '' });

  it.each([
    ['1,234', 1234.4],
    ['\u22121.2\u202f%', -0.0118],
    ['+0.5 points', 0.005],
    ['999.9\u202fM', 999.94e6],
    ['0', 0],
  ])('%s shows %d', (text, value) => {
    expect(whyWrongText(shown(text), value)).toBeNull();
  });

  it.each([
    ['1,234', 1234.6],
    ['1234', 1234],
    ['1.2\u202f%', -0.012],
    ['+0.0\u202f%', 0],
    ['999.9\u202fbn', 999.9e6],
    ['', 0],
  ])('%s does not show %d', (text, value) => {
    expect(whyWrongText(shown(text), value)).not.toBeNull();
  });
});
