import { type Command, Option } from 'commander';
import { VERBS } from '../core/intent/orders/order.ts';
import { type Answer, answering } from './answer.ts';
import { CliError } from './exit.ts';
import { COMMAND_OF, inOptions, wordsOf } from './order-words.ts';
import { type PlanOptions, planned, withPlanOptions } from './plan.ts';
import { withTarget } from './target.ts';

interface OrderOptions extends PlanOptions {
  readonly exceptFrom?: readonly string[];
  readonly exceptTo?: readonly string[];
  readonly port?: readonly string[];
  readonly bothWays?: boolean;
  readonly side?: string;
  readonly starts?: string;
  readonly for?: string;
  readonly until?: string;
  readonly through?: readonly string[];
}

/** `mesh allow web db --port tcp/5432 --for 2h`: an order on the command line, planned as `mesh plan` plans a sentence. */
export function defineOrder(command: Command): void {
  const verb = VERBS.find((one) => COMMAND_OF[one] === command.name()) ?? 'allow';
  withTarget(command)
    .argument('<from-peer>', `${WHO}; several apart by spaces, in quotes; names and ids also by commas`)
    .argument('<to-peer>', 'likewise')
    .option('--port <port>', 'tcp/5432, udp/60-70, icmp, !tcp/22; several by commas, or again; none: all', collected)
    .option('--except-from <who>', 'left out of the first; again for more', collected)
    .option('--except-to <who>', 'left out of the second; again for more', collected);
  if (verb === 'only') {
    command.addOption(
      new Option('--side <side>', 'from: the first goes nowhere else; to: nobody else gets in').choices(['to', 'from']),
    );
  } else command.option('--both-ways', 'also from the second to the first');
  if (verb !== 'remove') {
    command
      .option('--starts <moment>', 'begins then: 2030-01-31T08:00, by the clocks of the workspace')
      .option('--for <duration>', 'ends by itself after it: 30m, 2h, 7d')
      .option('--until <moment>', 'ends then: 2030-01-31T18:00, by the clocks of the workspace');
  }
  if (verb === 'allow')
    command.option('--through <policy>', 'a DENY in which it makes a hole; again for more', collected);
  answering(withPlanOptions(command), (from: string, to: string, options: OrderOptions): Promise<Answer> => {
    const {
      exceptFrom,
      exceptTo,
      port: ports,
      bothWays,
      side,
      starts,
      for: duration,
      until,
      through,
      ...plan
    } = options;
    const order = {
      do: verb,
      from: wordsOf(from),
      to: wordsOf(to),
      except_from: exceptFrom,
      except_to: exceptTo,
      side,
      ports,
      both_ways: bothWays,
      starts,
      for: duration,
      until,
      through,
    };
    const given = Object.entries(order).filter(([, value]) => value !== undefined);
    return planned({ orders: [Object.fromEntries(given)] }, plan).catch((error: unknown) => {
      if (!(error instanceof CliError)) throw error;
      throw new CliError(inOptions(error.message), error.exitCode, error.problem);
    });
  });
}

const WHO = 'a name, id, address or CIDR, role=db,env!=test, network=lab, peers, outside or anyone';

function collected(value: string, earlier: readonly string[] = []): string[] {
  return [...earlier, ...wordsOf(value)];
}
