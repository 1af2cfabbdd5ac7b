import { describe, expect, test, vi } from 'vitest';
import { decoderOf, encoderOf, positionsOf, type RowOf, readerOf } from '../../../schema/row.ts';
import { tables } from '../../../schema/tables.ts';

const { exportState, toolsDailyByTool } = tables;

const tool: RowOf<typeof toolsDailyByTool> = {
  date: '2026-02-01',
  org_id: 'org_1',
  is_artifact: 0,
  invocations: null,
  tool: 'Read',
  extra: null,
};

describe('rows by name', () => {
  test('an encoder puts the columns in the order of the table, whatever their order in the row', () => {
    expect(encoderOf(toolsDailyByTool)(tool)).toEqual(['org_1', '2026-02-01', 'Read', null, 0, null]);
  });

  test('an encoder gives the same result if code generation is forbidden', () => {
    vi.stubGlobal('Function', function refuse() {
      throw new EvalError('code generation from strings is disallowed for this context');
    });
    const encode = encoderOf(toolsDailyByTool);
    vi.unstubAllGlobals();
    expect(encode(tool)).toEqual(['org_1', '2026-02-01', 'Read', null, 0, null]);
  });

  test('a decoder gives every column its name back', () => {
    expect(decoderOf(toolsDailyByTool)(encoderOf(toolsDailyByTool)(tool))).toEqual(tool);
  });

  test('a reader finds one column, and an unknown column name fails', () => {
    expect(readerOf(toolsDailyByTool, 'tool')(encoderOf(toolsDailyByTool)(tool))).toBe('Read');
    expect(() => positionsOf<typeof exportState>(exportState, ['nam' as 'name'])).toThrow(
      'export_state has no column nam',
    );
  });
});

test('a missing, unknown, swapped or wrongly typed column does not compile', () => {
  // The compiler checks these: without an error below one of the comments, tsc fails.
  const cases = () => {
    const encode = encoderOf(toolsDailyByTool);
    const { tool: _, ...withoutTool } = tool;
    // @ts-expect-error A column is missing.
    encode(withoutTool);
    // @ts-expect-error There is no such column.
    encode({ ...tool, invocation: 1 });
    // @ts-expect-error A number in a text column.
    encode({ ...tool, tool: 1 });
    // @ts-expect-error NULL in a column that identifies.
    encode({ ...tool, tool: null });
    // @ts-expect-error Two columns of different types are swapped.
    encode({ ...tool, tool: tool.invocations, invocations: tool.tool });
    // @ts-expect-error A flag is 0 or 1.
    encode({ ...tool, is_artifact: 2 });
    // @ts-expect-error The row of another table.
    encoderOf(exportState)(tool);
    // @ts-expect-error There is no such column to read.
    readerOf(toolsDailyByTool, 'invocation');
    // @ts-expect-error Values without names are no row.
    encode(['org_1', '2026-02-01', 'Read', null, 0, null]);
  };
  expect(cases).toBeTypeOf('function');
});
