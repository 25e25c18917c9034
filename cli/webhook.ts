import type { Command } from 'commander';
import type { AnyOperation } from '../core/base/operation.ts';
import { createWebhook } from '../tools/webhooks/create-webhook.ts';
import { deleteWebhook } from '../tools/webhooks/delete-webhook.ts';
import { getWebhook } from '../tools/webhooks/get-webhook.ts';
import { getWebhookDelivery } from '../tools/webhooks/get-webhook-delivery.ts';
import { listWebhookDeliveries } from '../tools/webhooks/list-webhook-deliveries.ts';
import { listWebhooks } from '../tools/webhooks/list-webhooks.ts';
import { resendDeadDeliveries } from '../tools/webhooks/resend-dead-deliveries.ts';
import { resendWebhookDelivery } from '../tools/webhooks/resend-webhook-delivery.ts';
import { rotateWebhookSecret } from '../tools/webhooks/rotate-webhook-secret.ts';
import { testWebhook } from '../tools/webhooks/test-webhook.ts';
import { updateWebhook } from '../tools/webhooks/update-webhook.ts';
import { answering } from './answer.ts';
import { callOperation } from './call-operation.ts';
import { MOMENT_FORMS, momentOf } from './moments.ts';
import { fieldsOf, optionOf, valuesOf } from './operation-options.ts';
import { type TargetOptions, targetOf } from './session.ts';
import { withTarget } from './target.ts';

interface Verb {
  readonly name: string;
  readonly description: string;
  readonly operation: AnyOperation<never>;
  /** Fields of the input that are arguments, in their order, with what help says of them. */
  readonly takes: Readonly<Record<string, string>>;
}

const ID = { id: 'id of the webhook' };
const DELIVERY = { ...ID, deliveryId: 'id of the delivery' };

const VERBS: readonly Verb[] = [
  { name: 'list', description: 'list the webhooks of the workspace', operation: listWebhooks, takes: {} },
  { name: 'show', description: 'show a webhook', operation: getWebhook, takes: ID },
  {
    name: 'create',
    description: 'make a webhook; its secret is shown this once',
    operation: createWebhook,
    takes: { url: 'where events are posted to' },
  },
  { name: 'update', description: 'change a webhook', operation: updateWebhook, takes: ID },
  { name: 'delete', description: 'delete a webhook with its deliveries', operation: deleteWebhook, takes: ID },
  {
    name: 'rotate-secret',
    description: 'give a webhook another secret; the old one signs too for a day',
    operation: rotateWebhookSecret,
    takes: ID,
  },
  { name: 'test', description: 'send the event webhook.test', operation: testWebhook, takes: ID },
  { name: 'deliveries', description: 'list deliveries, newest first', operation: listWebhookDeliveries, takes: ID },
  { name: 'delivery', description: 'show a delivery with its JSON', operation: getWebhookDelivery, takes: DELIVERY },
  { name: 'resend', description: 'send a delivery again', operation: resendWebhookDelivery, takes: DELIVERY },
];

/** `mesh webhook`: what receivers outside are told, and what became of it. */
export function defineWebhook(command: Command): void {
  for (const { name, description, operation, takes } of VERBS) {
    const verb = withTarget(command.command(name).description(description));
    const taken = Object.keys(takes);
    for (const [field, text] of Object.entries(takes))
      verb.argument(`<${field === 'deliveryId' ? 'delivery' : field}>`, text);
    const fields = fieldsOf(operation).filter((field) => !taken.includes(field.name));
    for (const field of fields) verb.addOption(optionOf(field));
    answering(verb, async (...args: unknown[]) => {
      const options = args[taken.length] as TargetOptions & Readonly<Record<string, unknown>>;
      const given = Object.fromEntries(taken.map((field, index) => [field, args[index]]));
      const value = await callOperation(targetOf(options), operation, { ...valuesOf(fields, options), ...given });
      return { value, ...(operation.columns && { columns: operation.columns }) };
    });
  }
  answering(
    withTarget(command.command('resend-dead').description('send all again that have died since a moment'))
      .argument('<id>', ID.id)
      .requiredOption('--since <moment>', MOMENT_FORMS),
    async (id: string, { since, ...options }: TargetOptions & { readonly since: string }) => {
      const asked = { id, since: momentOf(since, '--since') };
      return { value: await callOperation(targetOf(options), resendDeadDeliveries, asked) };
    },
  );
}
