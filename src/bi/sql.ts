import { allMetrics, type Dimension, type Metric } from '../../schema/metrics/dictionary.ts';
import type { Dialect } from '../../schema/query.ts';
import { QUESTION_SCOPE, questions } from '../../schema/reference/questions.ts';
import { combiningOf, cutsOf, metricSql, shownUnit } from './dictionary.ts';
import type { BiFile, BiTarget } from './write-folder.ts';

/** Statements for any tool that takes SQL, such as Metabase, Superset or Redash. */
export const sqlTarget: BiTarget = {
  files: () => [
    ...metricFiles('sqlite'),
    ...questionFiles('sqlite'),
    ...metricFiles('postgres'),
    ...questionFiles('postgres'),
  ],
  nextSteps: (directory) => [
    `Connect the tool to the warehouse as a user who may only read, and open ${directory}/sqlite or ${directory}/postgres.`,
    'Copy the file of the metric and cut that you want into a new SQL question: by-month/cost.sql has the cost of each month.',
    'Before you let the tool sum a column, read the third line of the file: some metrics must not be summed.',
  ],
};

const PERIOD =
  'The named query "period" chooses the organization and the days: the only organization, from the first day of the ' +
  'service to the newest loaded day. Replace its values for others. With several organizations, every value is NULL ' +
  'until one is chosen.';

/** A statement for every metric, in total and by each of its dimensions: `sqlite/by-month/cost.sql`. */
function metricFiles(dialect: Dialect): readonly BiFile[] {
  return allMetrics.flatMap((metric) => cutsOf(metric).map((by) => metricFile(dialect, metric, by)));
}

function metricFile(dialect: Dialect, metric: Metric, by: readonly Dimension[]): BiFile {
  const { name, title, doc } = metric;
  const path = `${dialect}/${by.length === 0 ? 'total' : `by-${by.join('-')}`}/${name}.sql`;
  const comments = [
    `${title}${by.length === 0 ? ' in total' : ` by ${by.join(' and ')}`}, in ${shownUnit(metric)}: the metric ${name}.`,
    doc,
    combiningOf(metric),
    PERIOD,
  ];
  return statementFile(path, comments, metricSql(dialect, { metric: name, by }));
}

/** A statement for every question of docs/questions.md: `postgres/questions/03-top-users.sql`. */
function questionFiles(dialect: Dialect): readonly BiFile[] {
  return questions.map((question, index) => {
    const number = String(index + 1).padStart(2, '0');
    const path = `${dialect}/questions/${number}-${question.id.replaceAll(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`)}.sql`;
    const { title, note } = question;
    return statementFile(path, [title, ...(note === undefined ? [] : [note]), QUESTION_SCOPE], question.sql);
  });
}

/** The longest line of a comment. */
const CHARACTERS_MAX = 100;

/** A file with one statement after its comments, each of one or several lines. */
function statementFile(path: string, comments: readonly string[], statement: string): BiFile {
  const lines = comments.flatMap(wrap).map((line) => `-- ${line}`);
  return { path, text: `${[...lines, statement].join('\n')};\n` };
}

/** Breaks a text between words. A line break in it would end the comment, so each becomes a blank. */
function wrap(text: string): string[] {
  const lines: string[] = [];
  let line = '';
  for (const word of text.split(/\s+/)) {
    if (line !== '' && line.length + 1 + word.length > CHARACTERS_MAX) {
      lines.push(line);
      line = '';
    }
    line += line === '' ? word : ` ${word}`;
  }
  return [...lines, line];
}
