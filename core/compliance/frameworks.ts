import { invalidInput } from '../base/errors.ts';
import { FRAMEWORKS, type Framework } from '../model/frameworks.ts';
import type { CheckName } from './checks/index.ts';
import type { DataScope } from './scope.ts';

export { FRAMEWORKS, type Framework };

/** A control of a framework and the check that judges it. */
export interface Control {
  readonly id: string;
  readonly title: string;
  readonly check: CheckName;
  /** `partial`: the check shows a part of what the control asks for; the caveat says what it leaves. */
  readonly strength: 'strong' | 'partial';
  readonly caveat: string;
  readonly references: readonly string[];
  /**
   * True for the four controls of the contract: each passes or fails, and its evidence says when there was nothing to judge.
   */
  readonly isOfContract?: true;
}

export interface Catalog {
  readonly framework: Framework;
  readonly title: string;
  readonly scope: DataScope;
  /** The name for the peers in scope. */
  readonly subject: string;
  readonly controls: readonly Control[];
}

const ALIASES: Readonly<Record<Framework, readonly string[]>> = {
  'pci-dss': ['pci', 'pcidss'],
  soc2: ['soc-2', 'soc2-type-2', 'soc2-type2', 'soc2-type-ii', 'soc2-typeii', 'soc-2-type-ii', 'soc-2-type-2'],
  hipaa: ['hipaa-security', 'hipaa-security-rule'],
};

const BY_NAME = new Map(
  FRAMEWORKS.flatMap((framework) => [framework, ...ALIASES[framework]].map((name) => [name, framework] as const)),
);

/**
 * The framework that a name means: in any case, with `-`, `_` or a space between its words.
 *
 * @throws MeshError `invalid_input` with the list
 */
export function frameworkOf(name: string): Framework {
  const found = BY_NAME.get(
    name
      .trim()
      .toLowerCase()
      .replaceAll(/[\s_-]+/g, '-'),
  );
  if (found) return found;
  const detail = `There is no framework of this name: ${FRAMEWORKS.join(', ')} are assessed.`;
  throw invalidInput([{ pointer: '/framework', detail }], `/framework: ${detail}`);
}
