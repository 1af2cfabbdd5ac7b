import { expect, test } from 'vitest';
import { dotenvExample, settingsMarkdown } from '../../../scripts/settings-page.ts';
import { parseDotenv } from '../../../src/settings/dotenv.ts';
import { ALL_SETTINGS } from '../../../src/settings/settings-table.ts';
import { problemOf, read } from '../../support/settings/read-settings.ts';

test('.env.example changes nothing as it is, and every value in it is valid once it is uncommented', () => {
  const example = dotenvExample();
  expect(Object.keys(parseDotenv(example).values)).toEqual([]);

  const uncommented = example
    .replace(/^# (DAYWALK_\w+=.+)$/gm, '$1')
    .replace(/^DAYWALK_((API_KEY|DASHBOARD_TOKEN|EMULATE_TOKEN|MCP_TOKEN)_FILE|ORGANIZATIONS)=.*$/gm, '');
  expect(Object.keys(parseDotenv(uncommented).values).length).toBeGreaterThan(8);
  expect(read({ dotenv: uncommented })).toMatchObject({ problems: [], warnings: [] });
});

test('the table of settings and .env.example list every setting, and mark those that a file may not contain', () => {
  for (const { env, flag, isInDotenv } of ALL_SETTINGS) {
    expect(dotenvExample().includes(`# ${env}=`)).toBe(isInDotenv);
    expect(dotenvExample().includes(`# export ${env}=`)).toBe(!isInDotenv);
    expect(settingsMarkdown()).toContain(`| \`${env}\` | ${flag === null ? '–' : `\`${flag}\``} |`);
  }
});

test('the description of every number names the range that its refusal names, in the table and in .env.example', () => {
  const ranges = ALL_SETTINGS.flatMap(({ env, isInDotenv }) => {
    const [, range] =
      / is not a whole number from (\d+ to \d+)/.exec(problemOf({ env: { [env]: '-1' } })) ?? [];
    return range === undefined || !isInDotenv ? [] : [{ env, range }];
  });
  expect(ranges.length).toBeGreaterThan(8);
  for (const { env, range } of ranges) {
    expect(settingsMarkdown()).toMatch(new RegExp(`^\\| \`${env}\` \\|.*; ${range} \\|$`, 'm'));
    expect(dotenvExample()).toMatch(new RegExp(`^# .*; ${range}.*\\n# ${env}=`, 'm'));
  }
});
