import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { METRICS, SERVICE_METRICS } from '../../src/serve/metrics/definitions.ts';
import { ROOT } from '../support/structure/sources.ts';

const read = (path: string) => readFileSync(join(ROOT, path), 'utf8');
const rules = read('deploy/prometheus/daywalk-rules.yaml');
const alerts = Array.from(rules.matchAll(/^ *- alert: (\w+)$/gm), ([, name = '']) => name);
const metrics = [...Object.values(METRICS), ...Object.values(SERVICE_METRICS)];

test('every alert asks for metrics and labels that exist', () => {
  const expressions = Array.from(rules.matchAll(/^ *expr: (.*)$/gm), ([, text = '']) => text);
  expect(expressions).toHaveLength(alerts.length);
  const names: readonly string[] = metrics.map(({ name }) => name);
  const asked = expressions.flatMap((text) => text.match(/daywalk_\w+/g) ?? []);
  expect(asked.length).toBeGreaterThan(8);
  expect(asked.filter((name) => !names.includes(name))).toEqual([]);
});

test('every alert is tested, documented, and says what to do', () => {
  expect(alerts.length).toBeGreaterThan(8);
  const documented = Array.from(
    read('docs/monitoring.md').matchAll(/^\| `(Daywalk\w+)` \|/gm),
    ([, name]) => name,
  );
  expect(documented).toEqual(alerts);
  const tested = read('deploy/prometheus/daywalk-rules-test.yaml').matchAll(
    /alertname: (\w+)\n *exp_alerts:/g,
  );
  expect(new Set(Array.from(tested, ([, name]) => name))).toEqual(new Set(alerts));
  expect(rules.match(/^ *action: /gm)).toHaveLength(alerts.length);
});

test('names of metrics follow the rules of Prometheus', () => {
  const wrong = metrics.filter(({ name, help }) => !/^daywalk_[a-z_]+$/.test(name) || !help.endsWith('.'));
  expect(wrong).toEqual([]);
});
