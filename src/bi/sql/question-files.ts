import type { Dialect } from '../../../schema/query.ts';
import { isMetricCall, type Question, questions } from '../../../schema/reference.ts';
import { metricSql } from '../dictionary/metric-sql.ts';
import type { BiFile } from '../files/bi-target.ts';
import { statementFile } from './statement-file.ts';

/** A statement for every question of docs/questions.md: `postgres/questions/03-top-users.sql`. */
export function questionFiles(dialect: Dialect): readonly BiFile[] {
  return questions.map((question, index) => {
    const number = String(index + 1).padStart(2, '0');
    const path = `${dialect}/questions/${number}-${slugOf(question)}.sql`;
    const { title, note } = question;
    return statementFile(
      path,
      [title, ...(note === undefined ? [] : [note])],
      statementOf(dialect, question),
    );
  });
}

function statementOf(dialect: Dialect, { ask }: Question): string {
  if (!isMetricCall(ask)) return ask.sql;
  const { metric, by, from } = ask;
  return metricSql(dialect, { metric, by }, from === undefined ? {} : { from: `'${from}'` });
}

function slugOf({ id }: Question): string {
  return id.replaceAll(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`);
}
