import { MAX_NEWCOMERS } from '../core/authority/newcomers.ts';
import { catalogOf } from '../core/compliance/catalog.ts';
import { checkOf } from '../core/compliance/checks/index.ts';
import { ASSESSMENT_HOUR } from '../core/compliance/due.ts';
import { FRAMEWORKS } from '../core/compliance/frameworks.ts';
import { RETENTION_YEARS } from '../core/compliance/retention.ts';
import { scopeRule } from '../core/compliance/scope.ts';
import { MAX_PERIOD_DAYS } from '../core/model/frameworks.ts';

/** docs/compliance.md: what is assessed, from the catalogues that the code goes by. */
export function compliancePage(note: string): string {
  return `# Compliance

${note}

An assessment judges the controls of a framework over a period, from what the control plane has on record: policies, labels,
networks, approvals, snapshots, accounts. It is evidence for an auditor, not a certificate: what a control asks of people, of hosts
and of anything outside of the overlay is not seen, and each control says what it leaves (its caveat). Pro edition; the scope is
\`compliance:assess\`, which auditors and administrators hold.

\`\`\`sh
field() { node -pe "JSON.parse(require('node:fs').readFileSync(0))$1"; }
bin/mesh compliance assess pci-dss --from 90d || true     # ends with 1 where a control fails
bin/mesh compliance assess pci-dss --from 2026-01-01 --to 2026-03-31 || true       # days of UTC, both in it
january=$(bin/mesh compliance assess soc2 --from 90d --to 30d --json | field .evidence_id)
now=$(bin/mesh compliance assess soc2 --from 30d --json | field .evidence_id)
bin/mesh compliance compare "$january" "$now"
bin/mesh compliance list --framework soc2
\`\`\`

Over REST it is \`POST /api/v1/ai/compliance/assess {workspace_id, framework, period_start, period_end}\`, over MCP \`assess_compliance\`.
What an auditor is given is an [archive of evidence](evidence.md).

## Frameworks

\`pci-dss\`, \`soc2\` (Type II: over a period) and \`hipaa\`, also as \`PCI\`, \`pci_dss\`, \`SOC2 Type II\`, \`soc-2\`, \`HIPAA Security\`
and the like. An unknown name is refused with the list. The answer has the name as it was written in \`framework\`, and the one
above in \`canonical_framework\`.

The first four controls of PCI DSS, 1.2, 1.3, 6.4 and 10.2, have the numbers of version 3.2.1, which version 4 replaced on 31 March
2024; \`references\` has their places in 4.0.1. In version 4, 6.4 is about web applications, and change management is 6.5. All other
numbers are those of 4.0.1. These four pass or fail and nothing else.

## Which peers

PCI DSS is about peers with cardholder data, HIPAA about those with health data, SOC 2 about every peer. By default these are the
peers labelled ${scopeRule('cde', {}).text} (cardholder data), and ${scopeRule('ephi', {}).text} (health data); a key
alone means any value but \`false\`, \`no\` and \`none\`. A workspace names its own labels, and the addresses outside that may reach
these peers, in its [settings](accounts-and-tokens.md#settings-of-a-workspace):

\`\`\`sh
bin/mesh settings set 'compliance.cde=["zone=card"]' 'compliance.sources=["203.0.113.0/24"]'
\`\`\`

Peers that are pending, revoked or ended are not in scope. The settings are those of now, whatever they were in the period; the
answer has them in \`scope\`, and \`gaps\` tells that they were changed since the period began, and which peers left the scope in it.

## Over the period

A period begins before it ends, is at most ${MAX_PERIOD_DAYS} days and is judged until now at the latest: an end up to a day ahead is taken, and \`gaps\` and \`period_end\` say so; a start ahead is refused. What rests on the state of the network is judged at its beginning, after
every revision that changed a policy, a label, a network, a peer or an agent, and at each instant at which something expires or a
key becomes too old. A control fails when it failed at any time, were it for a moment. A change at the
very instant of \`period_start\` belongs to the period before, so that periods which follow one another count each change once.

- \`passing_share\` is the part of the time that is known in which it held; of a control about changes the part of the changes.
- \`failing\` are the intervals, each with the change that began and ended it: revision, actor, workflow, who reviewed it, whether it
  was written directly. The first ten are told, \`omitted_failing\` counts the others. A change that fails by itself is an interval
  of one instant.
- \`gaps\` says what is not known: a time before the workspace, a time that is no longer kept, daily snapshots that are missing.

What rests on accounts, sessions, tokens and settings is read as it is when the assessment is made (\`passing_of\` is \`now\`): no history
of it is kept. [Reviews](reviews.md) have dates: whether one was recent is judged at the end of the period, and whether what it flagged
has ended as it is now.

## Results

| \`status\` of a control | When |
|---|---|
| \`pass\` | there was something to judge, and it held all the time |
| \`fail\` | it failed at some time |
| \`insufficient_evidence\` | there was nothing to judge, no record of it is kept, or a part of the period is no longer kept and it held in the rest |

A control never passes on nothing. The four of the contract, which know no third answer, pass where there was nothing to judge, and
\`evidence\` says so (\`0 policy changes in the period\`). Where a part of the period in which the workspace was there is no longer
kept they fail, and \`evidence\` names that part: silence is no proof.

\`score\` is the share of \`pass\` among \`pass\` and \`fail\`, in percent. \`status\` is \`pass\` where nothing fails and something passes,
\`fail\` where nothing passes, else \`partial\`. A control without evidence counts neither way: read \`summary\`, which counts them.

**Changes** are those of policies, of networks, and of the labels and networks of peers. One is reviewed where a person approved its
workflow. What was approved automatically (\`autoApprove\`) and what an operator wrote directly count as reviewed by nobody. An end
that was decided beforehand, and the policies that hold an agent to its preset, are counted apart: they follow from what was decided.
A workflow that is not on record, that names another reviewer, that was approved after the change or rejected, or that did not
show the resource that was changed, is no approval. 6.4 judges the workflows alone, as the contract has it; direct writes fail 10.2
and 6.5.1, and 6.4 says how many there were. Who approves what they asked for fails 6.5.1 and 6.5.4.

**Anyone** is \`*\`, a device that joins without labels (so \`{}\`, \`NotIn\`, \`DoesNotExist\` and \`notPeers\` too), half of the addresses of
a network, or public addresses of more than one organisation: an IPv4 /8 or an IPv6 /20 over all policies and ports together. 1.3
judges the \`ALLOW\` rules, without what a \`DENY\` closes; what is open because nothing isolates a peer fails 1.2, 1.3.1, 1.4.2, CC6.1
and CC6.6.

**Remediation** says who must do what. Where policies mend what fails now, \`changes\` has them as \`plan_network_change\` takes them, with
what they would open and close, and whether the control holds then (\`effect\`). They isolate: write the \`ALLOW\` rules that are needed with
them. Nothing is planned or executed by an assessment.

Annotations of a policy that checks read: \`compliance.owner\` and \`compliance.justification\` (who answers for what it opens, and
why), \`compliance.mitigation\` (what makes an insecure service safe).

## Kept assessments

Each assessment is kept as it was made for ${RETENTION_YEARS} years (\`evidence_id\`), whatever becomes of the network: \`list_assessments\` shows how
the score went, \`get_assessment\` shows one, \`compare_assessments\` the controls that changed their status. HIPAA asks for six years of
documentation: keep copies. States of the network are kept for a year, 90 days in the Community edition. \`mesh compliance trend\`
(\`GET /api/v1/ai/compliance/assessments/trend?framework=soc2\`) has score and results over time, for a chart.

## Schedules

\`\`\`sh
bin/mesh compliance schedule set pci-dss --cadence weekly
bin/mesh compliance schedule list
bin/mesh compliance trend pci-dss
bin/mesh compliance drift --since 30d
\`\`\`

A workspace has at most one schedule of each framework: \`daily\`, \`weekly\` (from Monday), \`monthly\` or \`quarterly\`, at 0${ASSESSMENT_HOUR}:00 by the
clocks of the workspace, after the daily snapshot. It assesses the day, week, month or quarter that ended, or so many \`days\` before
it. The one that ended last is assessed when the schedule is made (unless the workspace is younger), and once after the control plane was down, not each that was
missed. Who made it is \`system:compliance\`. One that cannot be made is told in the audit log (\`compliance.schedule_failed\`).
An administrator sets schedules (\`PUT /api/v1/ai/compliance/schedules/:framework\`), who may assess sees them.

An assessment takes some 30 KB before compression: daily ones of all three frameworks are about 3,300 in three years, 100 MB at most.

## Drift

After each assessment, by a schedule or by hand, the controls whose status is another one than in the assessment of the framework
whose period ended last before it are drift: an event \`compliance.drift\` of the [stream](events.md) and of the audit log (one for each
control, with the change that it fails since, where one is known), a record of \`GET /api/v1/ai/compliance/drift\`, and the MCP
resource \`mesh://workspaces/{w}/drift\`, which can be subscribed to. Who assesses an earlier time again finds none. A change that is
written directly between two assessments is told by the next one.

## Changes and controls

A plan after which a control fails that did not before says so in its warnings, with who does what, before it is applied; one that
mends a control says that too. Such a plan is of medium risk at least, and is never approved by itself. A
[difference](history.md) between two moments tells the controls that changed.

These are the controls that rest on the state of the network, without the ages of keys and the reviews of changes, of these frameworks:
those that \`compliance.frameworks\` names; where it is unset \`pci-dss\` and \`hipaa\`, each where some peer is
[labelled](#which-peers) with its data; and those of the schedules. SOC 2 is about every peer, so it has to be named or scheduled.
With \`{"frameworks": []}\` and no schedule nothing is told.

\`\`\`sh
bin/mesh settings set compliance.secondPerson=true
\`\`\`

With \`secondPerson\` another person than the one who asked approves each change of networks, peers and policies after which a control fails or a peer leaves the scope, whatever \`selfApproval\`
says. What fails only later counts too: once policies have ended, or once devices have joined with the tokens that are out; a token with labels waits where its devices would fail a control. While tokens with more than ${MAX_NEWCOMERS} different sets of labels are out, which is more than can be judged, every such change waits. Direct writes and files wait for it too. To change what the workspace is assessed by then needs a second person as well, as
long as there are two who may approve. What devices and the control plane write by themselves does not wait. Who may approve
waits as well: roles and accounts of approvers ([delegation.md](delegation.md#turning-the-protection-off)). Tokens and the other settings of the workspace do not wait by \`secondPerson\` alone: set \`requireApproval\` too.

## Honest limits

- Policies of the overlay are judged, and what nodes were told. Firewalls, routes and files of hosts are not seen.
- What a peer is, is known by its labels. One that nobody labelled is in nobody's scope.
- No record is kept of backups: these controls lack evidence until there is one.
- That a review was made shows that a person looked, not that they were right.
- A second factor, the end of idle sessions and passwords of twelve characters are [settings](accounts-and-tokens.md#rules-for-signing-in), and off at first.
  These controls fail.

## Controls

${FRAMEWORKS.map(tableOf).join('\n')}`;
}

const RESTS_ON = {
  state: 'state over the period',
  changes: 'changes and their reviews',
  snapshots: 'daily snapshots',
  fact: 'what is known now',
} as const;

function tableOf(framework: (typeof FRAMEWORKS)[number]): string {
  const { title, controls } = catalogOf(framework);
  const rows = controls.map(({ id, title: name, check, strength, caveat, references }) => {
    const cells = [
      `\`${id}\``,
      name,
      `\`${check}\``,
      RESTS_ON[checkOf(check).on],
      strength,
      caveat,
      references.join(', '),
    ];
    return `| ${cells.join(' | ')} |`;
  });
  return `### ${title}

| Control | What it asks | Check | Rests on | Strength | Caveat | References |
|---|---|---|---|---|---|---|
${rows.join('\n')}
`;
}
