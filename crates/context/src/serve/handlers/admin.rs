//! What administrators keep.

use std::sync::Arc;

use store_api::document::placed;
use store_api::once::Once;
use store_api::server::{NewText, Text, TextKind};

use crate::serve::App;
use crate::serve::table::{Handle, Reply};
use crate::wire::DoneOrNot;
use crate::wire::admin::{
    AllRequirements, AllScripts, KeptRequirement, MaybeScript, OneScript, PutRequirement, PutScript,
    RemoveRequirement, RemoveScript, Requirements, Script, Scripts,
};
use crate::wire::error::{ApiError, ErrorCode};

fn read(text: &Text) -> Result<KeptRequirement, ApiError> {
    let requirement = serde_json::from_str(&text.content)
        .map_err(|e| ApiError::new(ErrorCode::Internal, format!("a requirement cannot be read: {e}")))?;
    Ok(KeptRequirement { requirement, version: text.version })
}

impl Handle for Requirements {
    async fn handle(self, app: Arc<App>, _: Option<Once>) -> Result<Reply<AllRequirements>, ApiError> {
        let texts = app.store.texts(TextKind::Requirement).await?;
        let requirements = texts.iter().map(read).collect::<Result<_, _>>()?;
        Ok(AllRequirements { requirements }.into())
    }
}

impl Handle for PutRequirement {
    async fn handle(self, app: Arc<App>, _: Option<Once>) -> Result<Reply<KeptRequirement>, ApiError> {
        placed("requirement", &self.requirement.name)?;
        let content =
            serde_json::to_string(&self.requirement).map_err(|e| ApiError::invalid(e.to_string()))?;
        let name = self.requirement.name;
        let new = NewText { kind: TextKind::Requirement, name, content, expected: self.expected_version };
        Ok(read(&app.store.put_text(new).await?)?.into())
    }
}

impl Handle for RemoveRequirement {
    async fn handle(self, app: Arc<App>, _: Option<Once>) -> Result<Reply<DoneOrNot>, ApiError> {
        Ok(DoneOrNot { done: app.store.remove_text(TextKind::Requirement, self.name).await? }.into())
    }
}

impl Handle for Scripts {
    async fn handle(self, app: Arc<App>, _: Option<Once>) -> Result<Reply<AllScripts>, ApiError> {
        Ok(AllScripts { scripts: app.store.texts(TextKind::Script).await? }.into())
    }
}

impl Handle for Script {
    async fn handle(self, app: Arc<App>, _: Option<Once>) -> Result<Reply<MaybeScript>, ApiError> {
        Ok(MaybeScript { script: app.store.text(TextKind::Script, self.name).await? }.into())
    }
}

impl Handle for PutScript {
    async fn handle(self, app: Arc<App>, _: Option<Once>) -> Result<Reply<OneScript>, ApiError> {
        let new = NewText {
            kind: TextKind::Script,
            name: self.name,
            content: self.content,
            expected: self.expected_version,
        };
        Ok(OneScript { script: app.store.put_text(new).await? }.into())
    }
}

impl Handle for RemoveScript {
    async fn handle(self, app: Arc<App>, _: Option<Once>) -> Result<Reply<DoneOrNot>, ApiError> {
        Ok(DoneOrNot { done: app.store.remove_text(TextKind::Script, self.name).await? }.into())
    }
}
