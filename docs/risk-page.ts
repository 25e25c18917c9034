import {
  CLOSINGS_COUNT_MS,
  GUARDED_PORTS,
  PERSONAL_PLATFORMS,
  PERSONAL_WORDS,
  PRODUCTION_LABELS,
  PRODUCTION_VALUES,
  RISK_LEVELS,
  RISKS,
  SERVICE_LABELS,
} from '../core/intent/verify/risk-table.ts';

const code = (words: readonly (string | number)[]) => words.map((word) => `\`${word}\``).join(', ');

/** Returns the page of risks from the table by which they are computed. */
export function riskPage(note: string): string {
  const rows = RISK_LEVELS.toReversed().flatMap((level) =>
    Object.values(RISKS)
      .filter((row) => row.level === level)
      .map(({ does, to, from, during }) => `| **${level}** | ${does} | ${to} | ${from} | ${during} |`),
  );
  const ports = Object.entries(GUARDED_PORTS).map(([kind, numbers]) => `| ${kind} | ${code(numbers)} |`);
  return `# Risk

${note}

Every plan and every change that waits has a risk: \`low\`, \`medium\`, \`high\` or \`critical\`. The risk is the gravest row of
the table that its computed effect meets, and \`risk_reasons\` names each of them. An opening or closing that meets no row is
\`low\`. A time limit lowers no risk. Source: \`core/intent/verify/risk-table.ts\`. What a workspace does with it:
[\`autoApprove\`](accounts-and-tokens.md).

| Risk | What it does | To | From | For how long |
|---|---|---|---|---|
${rows.join('\n')}

What \`autoApprove\` carries out is added up: the pairs of peers that it closed in the last ${CLOSINGS_COUNT_MS / 3_600_000} hours for the same requester, or for another
one for whom the same person answers, count as closed by the next plan that closes any. A person approves that plan where the sum is beyond \`maxRisk\`.

## Orders

The effect of [orders](orders.md) is computed as any other, and these decide its risk:

| Fact | Risk |
|---|---|
| connections that no order names open too | an objection in \`unmet\`: only someone with \`intents:override\` can put it forward |
| connections that no order names close too, as those of sub-agents of a named peer | a question to the approver |
| an order stays open longer than what opens it today | that of the ports and peers that stay open; a person approves it |
| an order, or any other change, opens what a \`DENY\` denied before | high; a person approves it |
| a \`DENY\` is deleted or narrowed, or labels take peers out of it, and nothing opens | medium at least |
| who asked | a delegated agent that opens more than it was delegated: high, and an objection; any agent beyond what it may reach itself waits for a person |
| how long it holds | none: a time limit lowers no risk |

A closing says that the control plane does not know whether anything uses these connections: it sees no traffic.

## Ports that count as management and database

| Kind | Ports |
|---|---|
${ports.join('\n')}

## Which peers count as a person's device or CI

- Peers whose name or labels have one of these words: ${code(PERSONAL_WORDS)}.
- Peers on one of these platforms: ${code(PERSONAL_PLATFORMS)}.
- Peers without any label that says what they are for: ${code(SERVICE_LABELS)}.

Peers of production have one of the labels ${code(PRODUCTION_LABELS)} with the value ${PRODUCTION_VALUES.map((value) => `\`${value}\``).join(' or ')}.
`;
}
