import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeEach, describe, expect, test } from 'vitest';
import { daysFrom, parseDay } from '../../../src/core/day.ts';
import { type FocusWorld, focusWorld } from '../../support/focus/focus-world.ts';
import { daywalkInProcess } from '../../support/process/daywalk-in-process.ts';
import { ROOT } from '../../support/structure/sources.ts';
import { onEachDatabase } from '../../support/warehouse/each-database.ts';

const MONTH = daysFrom(parseDay('2026-02-01'), parseDay('2026-02-28'));
/** A day of core with two models, and of web. */
const DAY = { 'ada/atlas': 600_000, 'ada/nova': 400_000, 'bob/atlas': 500_000 };
const HEADER = 'team,model,credits,amount,currency';
const AGREED = ['core,,28000000,70,EUR', 'web,,14000000,35,EUR'];
const [, SECTION = ''] = readFileSync(join(ROOT, 'docs/money.md'), 'utf8').split('## Checking an invoice');
const [, INVOICE = '', , PRINTED = ''] = SECTION.split(/^```(?:\w*)\n/m);

onEachDatabase((database) => {
  let world: FocusWorld;

  beforeEach(async () => {
    world = await focusWorld(database);
    for (const day of MONTH) await world.day(day, DAY, undefined, '2026-02-28');
    await world.teams(
      ['ada', '2026-01-14', '9999-12-31', 'core', null],
      ['bob', '2026-01-14', '9999-12-31', 'web', null],
    );
    await world.people(['ada', '2026-01-14', 'core'], ['bob', '2026-01-14', 'web']);
    for (const day of ['2026-02-01']) await world.active(day, ['ada', 'bob']);
    await world.refresh();
    await world.prices(['2026-01-14', null, 'EUR', 2.5]);
  });

  const check = async (file: string, ...args: string[]) =>
    daywalkInProcess(
      [
        'invoice',
        'check',
        file,
        '--month',
        '2026-02',
        '--warehouse',
        world.location,
        '--log',
        'silent',
        ...args,
      ],
      { cwd: world.folder, env: { DAYWALK_NOW: '2026-03-21T03:00:00Z' } },
    );
  const invoice = (lines: readonly string[], ...args: string[]) => {
    writeFileSync(world.path('invoice.csv'), `${lines.join('\n')}\n`);
    return check('invoice.csv', ...args);
  };
  const json = async (lines: readonly string[], ...args: string[]) => {
    const { code, stdout, stderr } = await invoice(lines, '--json', ...args);
    return { code, check: code === 2 ? stderr : JSON.parse(stdout) };
  };

  describe('daywalk invoice check', () => {
    test('agrees with an invoice by team, by model, by both, and as a whole', {
      tags: 'ci/rare',
    }, async () => {
      for (const lines of [
        [HEADER, ...AGREED],
        ['Team,CREDITS', 'core,28000000', 'web,14000000'],
        [HEADER, ',atlas,30800000,77,EUR', ',nova,11200000,28,EUR'],
        [HEADER, ',,42000000,105.4,EUR'],
        [HEADER, 'core,atlas,16800000,42,EUR', 'core,nova,11200000,28,EUR', 'web,,,35,EUR'],
      ]) {
        const { code, check: found } = await json(lines);
        expect([code, found.verdict, found.not_invoiced], lines.join('\n')).toEqual([0, 'agreed', []]);
        expect(found.lines.every(({ agreed }: { agreed: boolean }) => agreed)).toBe(true);
      }
    });

    test('exits with 5 where a line differs by more than the tolerance, and says what no line charges', async () => {
      const lines = [HEADER, 'core,,28000000,70.5,EUR'];
      expect(await json(lines)).toMatchObject({
        code: 5,
        check: {
          verdict: 'differs',
          lines: [{ team: 'core', amount: { invoiced: 70.5, stored: 70, difference: 0.5 }, agreed: false }],
          not_invoiced: [{ line: null, team: 'web', model: null, amount: { stored: 35 } }],
          total: { amount: { invoiced: 70.5, stored: 105, difference: -34.5, unexplained: -34.5 } },
        },
      });
      const text = await invoice([HEADER, 'core,,28000000,70.5,EUR', AGREED[1] ?? '']);
      expect(text).toMatchObject({ code: 5 });
      expect(text.stdout).toMatch(/core +all +70.50 EUR +70.00 EUR +0.50 EUR +differs/);

      expect(
        (await invoice([HEADER, 'core,,28000000,70.5,EUR', AGREED[1] ?? ''], '--tolerance', '1%')).code,
      ).toBe(0);
    });

    test('rounding to the smallest part of the currency is no difference', async () => {
      for (const [currency, rounded, other] of [
        ['JPY', '18', '19'],
        ['EUR', '17.50', '17.51'],
        ['KWD', '17.500', '17.501'],
      ] as const) {
        // 28,000,000 and 14,000,000 credits cost 17.5 and 8.75.
        await world.prices(['2026-01-14', null, currency, 0.625]);
        const lines = (core: string) => [
          HEADER,
          `core,,28000000,${core},${currency}`,
          `web,,14000000,8.75,${currency}`,
        ];
        expect(await json(lines(rounded), '--tolerance', '0%'), currency).toMatchObject({ code: 0 });
        expect(await json(lines(other), '--tolerance', '0%'), currency).toMatchObject({ code: 5 });
      }
    });

    test('the roundings of several lines add up', async () => {
      // 16.8, 11.2 and 14 million credits cost 6.0045, 4.003 and 5.00375.
      await world.prices(['2026-01-14', null, 'EUR', 0.357410714]);
      const lines = [HEADER, 'core,atlas,16800000,6,EUR', 'core,nova,11200000,4,EUR'];
      const web = (amount: string) => json([...lines, `web,,14000000,${amount},EUR`], '--tolerance', '0%');
      expect(await web('5')).toMatchObject({ code: 0 });
      expect(await web('4.99')).toMatchObject({ code: 5 });
    });

    test('says that the price differs where the credits agree', async () => {
      const { check: found } = await json([HEADER, ',,42000000,115.5,EUR']);
      expect(found.warnings.join()).toContain(
        'a million credits cost 2.75 EUR on the invoice, and 2.5 by the prices',
      );
    });

    test('explains a difference by days that were restated after the date of the invoice', async () => {
      await world.day('2026-02-10', { ...DAY, 'ada/atlas': 2_600_000 }, undefined, '2026-03-04');
      const late = await json([HEADER, ...AGREED]);
      expect(late).toMatchObject({
        code: 5,
        check: {
          verdict: 'explained',
          total: {
            credits: { difference: -2_000_000, restated: -2_000_000, unexplained: 0 },
            amount: { difference: -5, restated: -5, unexplained: 0 },
          },
          restated: [{ date: '2026-02-10', change_credits: 2_000_000, change_amount: 5 }],
        },
      });
      const dated = await json([HEADER, ...AGREED], '--date', '2026-03-04');
      expect(dated).toMatchObject({ code: 5, check: { verdict: 'differs', restated: [] } });
      const moved = [HEADER, 'core,,48000000,120,EUR', 'web,,-6000000,-15,EUR'];
      expect(await json(moved)).toMatchObject({ code: 5, check: { verdict: 'differs' } });
    });

    test('takes a credit note off its line, or off the total', async () => {
      const noted = [HEADER, 'core,,29000000,72.5,EUR', AGREED[1] ?? '', 'core,,-1000000,-2.5,EUR'];
      expect(await json(noted)).toMatchObject({ code: 0, check: { total: { amount: { credit_notes: 0 } } } });
      expect(await json([HEADER, ...AGREED, ',,,-10,EUR'])).toMatchObject({
        code: 5,
        check: { total: { amount: { difference: -10, credit_notes: -10, unexplained: 0 } } },
      });
    });

    test('agrees with a FOCUS file of more credits than an invoice will ever have', async () => {
      await world.day('2026-02-10', { 'ada/atlas': 4_000_000_000_000_000 }, undefined, '2026-02-28');
      await world.issue('focus.csv');
      const checked = await check('focus.csv', '--json', '--tolerance', '0%');
      expect({ code: checked.code, stderr: checked.stderr }).toEqual({ code: 0, stderr: '' });
    });

    test('agrees with the FOCUS file of the month, also after it was restated', {
      tags: 'ci/rare',
    }, async () => {
      await world.day('2026-02-03', { ...DAY, 'eve/atlas': 7 }, 1_500_123, '2026-03-01');
      await world.issue('focus.csv');
      for (const args of [[], ['--columns', 'team=SubAccountId,amount=EffectiveCost']]) {
        const { code, stdout, stderr } = await check('focus.csv', '--json', '--tolerance', '0%', ...args);
        expect([code, stderr]).toEqual([0, '']);
        const { lines, total } = JSON.parse(stdout);
        expect(lines.map(({ team, model }: Record<string, string>) => `${team} ${model}`)).toEqual([
          'core atlas',
          'core nova',
          'web atlas',
          'unassigned atlas',
          'unassigned unattributed',
        ]);
        expect(total.credits).toMatchObject({ invoiced: 42_000_123, stored: 42_000_123, difference: 0 });
      }
      await world.day('2026-02-04', { ...DAY, 'ada/atlas': 1_100_000 }, undefined, '2026-03-19');
      const later = await check('focus.csv', '--json', '--date', '2026-03-10');
      expect(JSON.parse(later.stdout)).toMatchObject({
        verdict: 'explained',
        total: { credits: { restated: -500_000 } },
      });
      await world.issue('correction.csv', { corrects: ['focus.csv'] });
      expect((await check('correction.csv')).stderr).toContain('corrections only');
      expect((await check('focus.csv', '--month', '2026-01')).stderr).toContain(
        '2026-02-01, not on 2026-01-01',
      );
    });

    test('reads other names of columns, and names the columns that it did not read', async () => {
      const lines = ['Cost Center,Net,Cur,Invoice', 'core,70,EUR,4711', 'web,35,EUR,4711'];
      const named = await json(lines, '--columns', 'team=Cost Center,amount=Net,currency=Cur');
      expect(named).toMatchObject({
        code: 0,
        check: { verdict: 'agreed', total: { credits: { invoiced: null } } },
      });
      expect(named.check.warnings.join()).toContain('were not read: Invoice.');
      expect(named.check.warnings.join()).toContain('without credits: 2');
    });

    test.each([
      ['no header', AGREED, [], 'invoice.csv:1: the header has no column credits and no column amount'],
      ['no lines', [HEADER], [], 'the invoice has no lines'],
      ['an unknown team', [HEADER, 'croe,,1,1,EUR'], [], 'invoice.csv:2: unknown team "croe"'],
      ['an unknown model', [HEADER, ',atlass,1,1,EUR'], [], 'write atlas'],
      [
        'a line twice',
        [HEADER, ...AGREED, 'web,,1,1,EUR'],
        [],
        'invoice.csv:4: line 3 charges the team web too',
      ],
      ['a total', [HEADER, ...AGREED, ',,42000000,105,EUR'], [], 'leave out totals'],
      [
        'teams beside models',
        [HEADER, 'core,,1,1,EUR', ',atlas,1,1,EUR'],
        [],
        'invoice.csv:3: line 2 charges',
      ],
      [
        'two currencies',
        [HEADER, 'core,,1,1,EUR', 'web,,1,1,USD'],
        [],
        'the currency is USD, and EUR in line 2',
      ],
      ['another currency', [HEADER, ',,1,1,USD'], [], 'load a price list in USD'],
      ['no number', [HEADER, ',,"1,000",1,EUR'], [], 'credits "1,000" is not a number'],
      [
        'a number that no tolerance tells from another',
        [HEADER, ...AGREED, ',,,-1e308,'],
        [],
        'is more than',
      ],
      [
        'an amount that is left out',
        [HEADER, ...AGREED.slice(0, 1), 'web,,1,,EUR'],
        [],
        'the amount is empty',
      ],
      ['semicolons', [HEADER.replaceAll(',', ';')], [], 'the columns are separated by semicolons'],
      ['neither number', [HEADER, 'core,,,,EUR'], [], 'credits and amount are empty'],
      [
        'an unknown column',
        [HEADER, ...AGREED],
        ['--columns', 'amount=Nett'],
        'the file has no column "Nett"',
      ],
      ['a misspelt column', [HEADER, ...AGREED], ['--columns', 'amout=Net'], 'write amount=NAME'],
      ['a wrong tolerance', [HEADER, ...AGREED], ['--tolerance', '0.5'], 'write a percentage'],
      [
        'a date to come',
        [HEADER, ...AGREED],
        ['--date', '2026-03-22'],
        'is not between 2026-02-01 and today',
      ],
      ['a month to come', [HEADER, ...AGREED], ['--month', '2026-03'], '2026-03 is not over'],
      ['a month without days', [HEADER, ',,1,1,EUR'], ['--month', '2026-01'], 'no day of 2026-01 is stored'],
    ])('refuses %s, with a remedy', async (_, lines, args, message) => {
      const { code, stdout, stderr } = await invoice(lines, ...args);
      expect({ code, stdout }).toEqual({ code: 2, stdout: '' });
      expect(stderr).toContain(message);
      expect(stderr).toContain('hint');
    });

    test('refuses a month without prices', async () => {
      await world.prices();
      const { code, stderr } = await invoice([HEADER, ...AGREED]);
      expect([code, stderr]).toEqual([2, expect.stringContaining('daywalk prices load')]);
    });

    test('prints what docs/money.md shows', async () => {
      await world.day('2026-02-10', { ...DAY, 'ada/atlas': 2_600_000 }, undefined, '2026-03-04');
      const { code, stdout } = await invoice(INVOICE.trimEnd().split('\n'));
      expect([code, stdout]).toEqual([5, PRINTED]);
    });
  });
});
