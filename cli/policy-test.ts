import type { Command } from 'commander';
import { z } from 'zod';
import { YamlError } from '../core/base/ports.ts';
import { fieldErrorsOf } from '../core/base/schema-errors.ts';
import type { AssertionResult } from '../core/reachability/assertions.ts';
import { testPolicies } from '../core/reachability/policy-tests.ts';
import { parseYaml } from '../tools/yaml.ts';
import { type Answer, answering } from './answer.ts';
import { CliError, EXIT } from './exit.ts';
import { readText } from './operation-options.ts';
import { addLintCommand } from './policy-lint.ts';

/** `mesh policy test FILE`: checks assertions over policies without a server; for anyone's CI. And `mesh policy lint`. */
export function definePolicy(policy: Command): void {
  addLintCommand(policy);
  answering(
    policy
      .command('test')
      .description('check the assertions of a YAML or JSON file; exit 1 when one fails')
      .argument('<file>', 'network, peers, policies and assertions'),
    async (file: string): Promise<Answer> => {
      const value = resultsOf(await readDocument(file));
      const failed = value.filter(({ pass }) => !pass).length;
      const text = [...value.map(lineOf), `${value.length - failed} hold, ${failed} fail`];
      return { value, text, ...(failed > 0 && { exitCode: EXIT.negative }) };
    },
  );
}

/** @throws CliError naming each wrong field. */
function resultsOf(document: unknown): AssertionResult[] {
  try {
    return testPolicies(document, Date.now());
  } catch (error) {
    if (!(error instanceof z.ZodError)) throw error;
    const lines = fieldErrorsOf(error).map(({ pointer, detail }) => `  ${pointer}: ${detail}`);
    throw new CliError(`The file does not fit:\n${lines.join('\n')}`, EXIT.input);
  }
}

async function readDocument(file: string): Promise<unknown> {
  const [document, ...more] = documentsOf(file, await readText(file));
  if (document === undefined || more.length > 0) {
    throw new CliError(`${file} must hold one YAML or JSON document.`, EXIT.input);
  }
  return document;
}

function documentsOf(file: string, text: string): unknown[] {
  try {
    return parseYaml(text);
  } catch (error) {
    throw error instanceof YamlError ? new CliError(`${file}: ${error.message}`, EXIT.input) : error;
  }
}

function lineOf({
  pass,
  src,
  dst,
  protocol,
  port,
  expect,
  verdict,
  reason_code: reason,
  policy,
  rule_index: rule,
}: AssertionResult): string {
  const what = port === undefined ? (protocol ?? 'everything') : `${protocol ?? 'TCP'} ${port}`;
  const why =
    reason === null
      ? ''
      : ` (${reason}${policy === null ? '' : ` by ${policy}`}${rule === null ? '' : ` rule ${rule}`})`;
  return `${pass ? 'ok  ' : 'FAIL'} ${src} -> ${dst} ${what}: expected ${expect}, is ${verdict}${why}`;
}
