import { z } from 'zod';
import { readYaml } from '../../core/base/read-yaml.ts';
import { PLAINLY } from '../../core/base/schema-errors.ts';
import { connectionChanges } from '../../core/effect/connection-changes.ts';
import { effectBlocks } from '../../core/effect/rows.ts';
import { assertionSchema, checkAssertions } from '../../core/reachability/assertions.ts';
import { createEngine } from '../../core/reachability/engine.ts';
import { explain } from '../../core/reachability/explain.ts';
import { withProtocol } from '../../core/reachability/explanation.ts';
import { pairRows } from '../../core/reachability/matrix.ts';
import { testPolicies as testDocument } from '../../core/reachability/policy-tests.ts';
import { querySchema } from '../../core/reachability/simulate.ts';
import { buildYaml } from '../../tools/yaml.ts';
import type { AssertionResult, Comparison, MeshDocument, PolicyNetwork, PolicyOptions } from './api.ts';
import { checkedDocuments, modelOf } from './documents.ts';
import { PolicyError, refusing } from './policy-error.ts';

export type * from './api.ts';
export { PolicyError };

const assertionsSchema = z.array(assertionSchema);

/** Reads the documents of a YAML or JSON text. @throws PolicyError with the line, or with each wrong field */
export function parseDocuments(text: string): MeshDocument[] {
  return refusing(() => checkedDocuments(readYaml(buildYaml(), text)));
}

/** Compiles the network that documents describe. @throws PolicyError naming each wrong field */
export function networkOf(documents: readonly MeshDocument[], { now = Date.now() }: PolicyOptions = {}): PolicyNetwork {
  const model = refusing(() => modelOf(checkedDocuments(documents), now));
  const reach = createEngine().compile(model);
  return {
    peers: model.peers.map(({ name }) => name),
    explain(query) {
      const asked = refusing(() => withProtocol(querySchema.parse(query, PLAINLY)));
      const { verdict, allowed, steps, blocked_by } = explain(reach, asked);
      return { verdict, allowed, steps, blocked_by };
    },
    connections: () => pairRows(reach),
    check: (assertions) =>
      refusing(() =>
        checkAssertions({ explain: (query) => explain(reach, query) }, assertionsSchema.parse(assertions, PLAINLY)),
      ),
  };
}

/** Says which connections open and close from one set of documents to another. @throws PolicyError */
export function compare(
  before: readonly MeshDocument[],
  after: readonly MeshDocument[],
  { now = Date.now() }: PolicyOptions = {},
): Comparison {
  return refusing(() => {
    const engine = createEngine();
    const compiled = (documents: readonly MeshDocument[]) => engine.compile(modelOf(checkedDocuments(documents), now));
    const changes = connectionChanges(compiled(before), compiled(after));
    const outside = changes.outside();
    const { blocks, omitted } = effectBlocks({ groups: [...changes.groups()], outside });
    return { connections: blocks, omitted, comparesOutside: outside !== undefined };
  });
}

/** Runs the assertions of one file as `mesh policy test FILE` does. @throws PolicyError naming each wrong field */
export function testPolicies(text: string, { now = Date.now() }: PolicyOptions = {}): AssertionResult[] {
  return refusing(() => {
    const [document, ...more] = readYaml(buildYaml(), text);
    if (document === undefined || more.length > 0) {
      throw new PolicyError('invalid_input', 'The text must hold one YAML or JSON document.', []);
    }
    return testDocument(document, now);
  });
}
