export type Language = 'en' | 'zh-CN';

/** Of the page around the routes, whose own summaries are English in the document. */
export const WORDS: Readonly<Record<Language, Readonly<Record<Word, string>>>> = {
  en: {
    title: 'Sluice HTTP API',
    other: '中文',
    document: 'OpenAPI 3.1 document',
    live: 'Live page',
    intro:
      'Every request but the health checks carries a token: "Authorization: Bearer TOKEN". The first start of the server writes one to admin.token in its data folder. A token that may do a later one of read, operate, admin may do the earlier ones.',
    problems:
      'Errors are problem documents (RFC 9457) with a stable code and one sentence that says what to do. Ids of table formats are strings, times ISO 8601 in UTC. A POST that makes something honours Idempotency-Key for a day.',
    permission: 'permission',
    parameters: 'Parameters',
    name: 'name',
    place: 'in',
    type: 'type',
    meaning: 'meaning',
    required: 'required',
    body: 'Body',
    mayBeLeftOut: 'may be left out',
    example: 'Example',
    answers: 'Answers',
    nothing: 'no body',
    stream: 'text, not JSON',
  },
  'zh-CN': {
    title: 'Sluice HTTP 接口',
    other: 'English',
    document: 'OpenAPI 3.1 文档',
    live: '实时页面',
    intro:
      '除健康检查外，每个请求都要带令牌：“Authorization: Bearer 令牌”。服务器首次启动时会把令牌写入数据目录下的 admin.token。权限依次为 read、operate、admin，拥有后者即拥有前者。',
    problems:
      '错误以问题文档（RFC 9457）返回：code 稳定不变，detail 用一句话说明该怎么做。表格式的标识均为字符串，时间为 UTC 的 ISO 8601。凡是新建内容的 POST，Idempotency-Key 在一天内有效。',
    permission: '权限',
    parameters: '参数',
    name: '名称',
    place: '位置',
    type: '类型',
    meaning: '含义',
    required: '必填',
    body: '请求体',
    mayBeLeftOut: '可以省略',
    example: '示例',
    answers: '响应',
    nothing: '无内容',
    stream: '文本，而非 JSON',
  },
};

export type Word =
  | 'title'
  | 'other'
  | 'document'
  | 'live'
  | 'intro'
  | 'problems'
  | 'permission'
  | 'parameters'
  | 'name'
  | 'place'
  | 'type'
  | 'meaning'
  | 'required'
  | 'body'
  | 'mayBeLeftOut'
  | 'example'
  | 'answers'
  | 'nothing'
  | 'stream';

/** What the document says in English, by what it says it of: tags and operations. */
export const CHINESE: Readonly<Record<string, string>> = {
  health: '健康状况',
  projects: '项目',
  assets: '资产',
  'asset-events': '资产事件',
  dependencies: '依赖',
  'workflow-definitions': '工作流定义',
  'workflow-instances': '工作流实例',
  'task-instances': '任务实例',
  'trigger-history': '触发历史',
  events: '变更通知',
  getHealth: '进程是否存活。',
  getReadiness: '能否工作；不能时返回 503 和原因。',
  getMetrics: 'Prometheus 指标。',
  listProjects: '项目，按名称排列；不给 limit 时全部返回。',
  pauseProject: '暂停项目：恢复之前其依赖组都不再启动运行，版本照常记录。',
  resumeProject: '恢复项目：各依赖组把期间到达的内容合并为一次运行；skip 则不为其运行。',
  applyDeclaration: '创建或更新文件中声明的内容；dryRun 只说明会做什么。',
  registerAsset: '登记或更新一个资产；未给出的字段取默认值。',
  listAssets: '项目的资产及其状态，按键排列；不给 limit 时全部返回。',
  getAsset: '单个资产：标签、表结构、质量检查和使用者。',
  deleteAsset: '删除资产及其历史；仍有依赖组等待它时拒绝。',
  getAssetState: '资产的状态：一切判断所依据的内容。',
  listAssetVersions: '资产的版本，最新的在前。',
  scanAsset: '立即查看表，查看结束或超过 timeoutSeconds 后返回。',
  releaseAsset: '放行因断档、回滚或重建而被扣住的资产（onGap、onRollback、onRecreate 为 HOLD）。',
  approveSchema: '按标识批准（或拒绝）表结构，首次提交之前也可以。',
  pushAssetEvents: '推送一个或最多 1,000 个事件；其中有误的不影响其余事件。',
  listAssetEvents: '发生过的事件，最新的在前。',
  declareAssetDependencies: '按 RFC 5.3 的行增加工作流和任务的依赖，一行或最多 1,000 行；未提到的保持不变。',
  getAssetDependencies: '工作流在等待什么、上次消费了什么，以及每个条件的现状。',
  whyNotRun: '工作流为什么没有运行，上次又为什么运行。',
  whyTaskWaits: '等待中的任务在每次运行里等待什么，上次因何放行。',
  listWorkflowDefinitions: '项目的工作流，按名称排列；不给 limit 时全部返回。',
  createWorkflow: '新建工作流，写法与声明文件相同。',
  getWorkflowDefinition: '单个工作流的最新版本。',
  updateWorkflow: '把工作流改为所声明的样子；有变化时产生新版本，依赖组保留已消费的内容。',
  deleteWorkflow: '删除已下线且没有未结束运行的工作流，连同其依赖组；历史运行保留。',
  startWorkflow: '手动启动一次运行；相同的 Idempotency-Key 返回同一次运行。',
  listWorkflowVersions: '工作流的版本，最新的在前。',
  getWorkflowVersion: '工作流在某一版本时的内容。',
  releaseWorkflow: '上线或下线。下线期间依赖组不触发，新到的内容会保留。',
  pauseGroup: '暂停依赖组：恢复之前不再启动运行，版本照常记录。',
  resumeGroup: '恢复依赖组：期间到达的内容合并为一次运行；skip 则不为其运行。',
  listWorkflowInstances: '项目的运行，最新的在前。',
  getWorkflowInstance: '一次运行，以及每个任务的最新一次尝试。',
  listTaskInstances: '一次运行的任务，包括所有尝试。',
  pauseWorkflowInstance: '暂停：运行中的任务执行完，不再启动其他任务。',
  resumeWorkflowInstance: '继续已暂停或已停止的运行。',
  stopWorkflowInstance: '停止：结束运行中的任务。',
  rerunWorkflowInstance: '从头重跑已结束的运行；版本不变，除非 repin。',
  recoverWorkflowInstance: '重跑失败的任务及其后的任务；版本不变，除非 repin。',
  getTaskInstanceLog: '日志片段；带 “Accept: text/event-stream” 时持续推送：若干 log 事件，最后一个 end。',
  listTriggerHistory: '触发记录：版本、触发键，以及当时的条件。',
  streamEvents: '服务器推送：先 ready，之后 changed，说明哪类内容变了，每秒最多五次；断线后不补发。',
};

/** What the document says of parameters, by its English words: several routes share them. */
export const CHINESE_MEANINGS: Readonly<Record<string, string>> = {
  'nextCursor of the page before.': '上一页的 nextCursor。',
  "The project's code or name.": '项目的编号或名称。',
  "The asset's key, percent-encoded as one segment, or its code.": '资产的键（按一段路径做百分号编码）或编号。',
  "The asset's key or code.": '资产的键或编号。',
  "The workflow's code or name.": '工作流的编号或名称。',
  "The task's name.": '任务的名称。',
  'Only this group.': '只看这个依赖组。',
  'Its name.': '它的名称。',
  'Refuse conditions on assets that are not registered.': '条件涉及未登记的资产时拒绝。',
  'The version that the change was made for; another one is refused.': '修改所依据的版本；与当前版本不同则拒绝。',
  'What made this run, and released its tasks.': '启动这次运行、放行其任务的触发。',
};
