import { describe, expect, test } from 'vitest';
import { grafanaFiles } from '../../support/bi/grafana.ts';
import { complaintsAbout, HAS_SCHEMA, NO_SCHEMA } from '../../support/bi/grafana-schema.ts';
import { leftOut } from '../../support/suite/left-out.ts';

const COMPILE_MS_MAX = 60_000;

const dashboards = new Map(
  [...grafanaFiles()]
    .filter(([path]) => path.endsWith('.json'))
    .map(([path, text]) => [path.replaceAll(/\W/g, '-'), text]),
);

/** Mistakes in the text of a dashboard: what is replaced by what. */
const MISTAKES = [
  ['a misspelt field', '"gridPos"', '"gridPosition"'],
  ['a misspelt option of a panel', '"legend"', '"legends"'],
  ['a missing option of a panel', '"showHeader": true', ''],
  ['a value that no panel has', '"mode": "multi"', '"mode": "many"'],
  ['a number as text', '"schemaVersion": 41', '"schemaVersion": "41"'],
  ['a type that no variable has', '"type": "datasource"', '"type": "data source"'],
  ['a kind of panel that is not used', '"type": "stat"', '"type": "statistic"'],
] as const;

describe("Grafana's own types", leftOut(HAS_SCHEMA ? null : NO_SCHEMA), () => {
  test('accept every dashboard, and refuse each mistake in one', {
    tags: 'ci/upkeep',
    timeout: COMPILE_MS_MAX,
  }, async () => {
    const [, cost = ''] = [...dashboards].find(([name]) => name.includes('postgres-dashboards-cost')) ?? [];
    const broken = MISTAKES.map(([, from, to], index) => {
      const text = cost.replace(from, to);
      expect(text).not.toBe(cost);
      return [`mistake-${index}`, text] as const;
    });
    const complaints = await complaintsAbout(new Map([...dashboards, ...broken]));
    const refused = new Set(complaints.map((line) => line.split('.')[0]));
    expect(complaints.filter((line) => !line.startsWith('mistake-'))).toEqual([]);
    expect(MISTAKES.filter((_, index) => !refused.has(`mistake-${index}`))).toEqual([]);
    expect(dashboards.size).toBe(10);
  });
});
