import { invalidInput } from '../base/errors.ts';
import { FRAMEWORKS, type Framework } from '../model/frameworks.ts';

export { FRAMEWORKS, type Framework };

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
