//! Prompts, and what completes their arguments.

use rmcp::RoleServer;
use rmcp::model::{
    ContentBlock, ErrorData, GetPromptRequestParams, GetPromptResponse, GetPromptResult, Prompt,
    PromptArgument, PromptMessage, ResourceContents, Role,
};
use rmcp::service::RequestContext;
use serde_json::Value;

use super::rounds::{entered, form, need};
use super::tools::PNG;

/// The list, with or without the prompt that comes and goes.
pub(super) fn list(more: bool) -> Vec<Prompt> {
    let prompt = |name: &str, description: &str, arguments: &[(&str, &str)]| {
        let argument = |(name, description): &(&str, &str)| {
            PromptArgument::new(*name).with_description(*description).with_required(true)
        };
        let arguments: Vec<_> = arguments.iter().map(argument).collect();
        Prompt::new(name, Some(description), (!arguments.is_empty()).then_some(arguments))
    };
    let mut prompts = vec![
        prompt("test_simple_prompt", "One message", &[]),
        prompt(
            "test_prompt_with_arguments",
            "One message that repeats its arguments",
            &[("arg1", "First test argument"), ("arg2", "Second test argument")],
        ),
        prompt(
            "test_prompt_with_embedded_resource",
            "A resource and what to do with it",
            &[("resourceUri", "URI of the resource to embed")],
        ),
        prompt("test_prompt_with_image", "An image and what to do with it", &[]),
        prompt("test_input_required_result_prompt", "Needs what the user says", &[]),
    ];
    if more {
        prompts.push(prompt("test_passing_prompt", "Is listed every other time", &[]));
    }
    prompts
}

/// What begins like the value that is being entered.
pub(super) fn completions(value: &str) -> Vec<String> {
    let words = ["paris", "park", "party", "testValue1", "testValue2"];
    words.into_iter().filter(|word| word.starts_with(value)).map(str::to_owned).collect()
}

pub(super) fn get(
    request: &GetPromptRequestParams,
    context: &RequestContext<RoleServer>,
) -> Result<GetPromptResponse, ErrorData> {
    let argument = |name: &str| {
        let given = request.arguments.as_ref().and_then(|all| all.get(name)).and_then(Value::as_str);
        given.ok_or_else(|| ErrorData::invalid_params(format!("{name} is missing"), None))
    };
    let says = |text: &str| PromptMessage::new_text(Role::User, text);
    let shows = |block: ContentBlock| PromptMessage::new(Role::User, block);
    let messages = match request.name.as_str() {
        "test_simple_prompt" => vec![says("This is a simple prompt for testing.")],
        "test_prompt_with_arguments" => {
            let (one, two) = (argument("arg1")?, argument("arg2")?);
            vec![says(&format!("Prompt with arguments: arg1='{one}', arg2='{two}'"))]
        }
        "test_prompt_with_embedded_resource" => {
            let resource =
                ResourceContents::text("Embedded resource content for testing.", argument("resourceUri")?);
            vec![shows(ContentBlock::resource(resource)), says("Please process the embedded resource above.")]
        }
        "test_prompt_with_image" => {
            vec![shows(ContentBlock::image(PNG, "image/png")), says("Please analyze the image above.")]
        }
        "test_input_required_result_prompt" => {
            let answer = entered(request.input_responses.as_ref(), "user_context", "context");
            let Some(said) = answer.and_then(Value::as_str) else {
                let asked = form("What context should the prompt use?", "context", "string");
                return Ok(need(context, vec![("user_context", asked)], None)?.into());
            };
            vec![says(&format!("Keep in mind: {said}"))]
        }
        "test_passing_prompt" => vec![says("Still here")],
        other => return Err(ErrorData::invalid_params(format!("there is no prompt {other}"), None)),
    };
    Ok(GetPromptResult::new(messages).into())
}
