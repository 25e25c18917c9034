import type { z } from 'zod';
import type { CallContext } from '../../core/base/operation.ts';
import { type ResourceInput, resourceChange } from '../../core/changes/resource-input.ts';
import type { PolicySpec } from '../../core/model/policy.ts';
import type { NetworkSpec } from '../../core/model/resources.ts';
import type { NetworkState } from '../../core/state/state.ts';
import type { Services } from '../../core/workflow/services.ts';
import { answerOf, submitOne } from '../submit.ts';
import { resourceWrites } from './resource-writes.ts';

type Input = ResourceInput<PolicySpec | NetworkSpec>;

interface WriteDefinition<O extends z.ZodType> {
  readonly kind: 'MeshNetwork' | 'MeshPolicy';
  readonly noun: string;
  readonly path: `/api/v1/${string}`;
  readonly output: O;
  readonly view: (name: string, after: NetworkState, now: number) => z.input<O>;
}

/** Creating, replacing and deleting what is planned, judged and approved as a change of the network. */
export function changeWrites<O extends z.ZodType>({ kind, noun, path, output, view }: WriteDefinition<O>) {
  const writes = resourceWrites(kind, output, path);

  async function put(verb: string, input: Input, context: CallContext<Services>, id?: string) {
    const change = await resourceChange(context, kind, input, id);
    const submitted = await submitOne(context, change, `${verb} ${noun} ${change.name}`);
    const { clock } = context.services;
    return answerOf(submitted, ({ outcomes, after }) => view(outcomes[0]?.name ?? '', after, clock.now()));
  }

  return {
    create: {
      ...writes.create,
      problems: ['invalid_input', 'conflict', 'payload_too_large'],
      run: (input: Input, context: CallContext<Services>) => put('created', input, context),
    },
    update: {
      ...writes.update,
      problems: ['invalid_input', 'not_found', 'conflict', 'payload_too_large'],
      run: ({ id, ...input }: Input & { readonly id: string }, context: CallContext<Services>) =>
        put('updated', input, context, id),
    },
    delete: {
      ...writes.delete,
      async run({ id }: { readonly id: string }, context: CallContext<Services>) {
        const change = { action: 'delete', resource: kind, name: id } as const;
        const submitted = await submitOne(context, change, `deleted ${noun} ${id}`);
        return answerOf(submitted, ({ outcomes }) => ({ deleted: outcomes[0]?.name ?? id }));
      },
    },
  } as const;
}
