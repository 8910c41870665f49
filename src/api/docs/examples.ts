/** A body for each operation that takes one, by operationId: what the page shows, and what a test sends. */

const ORDERS = 'paimon://ods_db/ods_order_latest';

const trade = {
  name: 'trade',
  triggers: [{ group: 'orders', all: [{ assetKey: ORDERS, qualityStatus: 'PASSED' }] }],
  tasks: [{ name: 'dwd', type: 'SHELL', params: { rawScript: './dwd.sh ${asset.ods_order_latest.snapshot_id}' } }],
};

export const EXAMPLES: Readonly<Record<string, unknown>> = {
  applyDeclaration: {
    declaration: { apiVersion: 'sluice/v1', project: 'gmv', assets: [{ key: ORDERS }], workflows: [trade] },
    dryRun: true,
  },
  registerAsset: { key: ORDERS, location: '/warehouse/ods_db.db/ods_order_latest', requiredChecks: ['rows'] },
  scanAsset: { timeoutSeconds: 10 },
  approveSchema: { schemaId: '3', decision: 'APPROVE' },
  pushAssetEvents: [
    { assetKey: ORDERS, eventType: 'SNAPSHOT_COMMITTED', snapshotId: '5', commitTime: '2026-11-30T15:00:00Z' },
    { assetKey: ORDERS, eventType: 'QUALITY_CHECK_PASSED', checkName: 'rows', snapshotId: '5' },
  ],
  declareAssetDependencies: [
    {
      workflowDefinitionCode: 'trade',
      assetKey: ORDERS,
      dependencyGroup: 'orders',
      conditionJson: { snapshotRequired: true, qualityStatus: 'PASSED' },
      enabledFlag: 1,
    },
  ],
  createWorkflow: { ...trade, name: 'report' },
  updateWorkflow: { ...trade, description: 'One row for each paid order.' },
  releaseWorkflow: { releaseState: 'OFFLINE' },
  resumeGroup: { skip: true },
  resumeProject: { skip: false },
  startWorkflow: { params: { mode: 'restate' }, pins: { [ORDERS]: '5' } },
  rerunWorkflowInstance: { repin: true },
  recoverWorkflowInstance: { repin: false },
};
